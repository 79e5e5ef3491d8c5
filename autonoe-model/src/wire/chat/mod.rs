//! The Chat Completions protocol, which many services speak, each a little differently.

mod calls;
mod decode;
mod dialect;
mod encode;
mod message;
#[cfg(test)]
mod tests;
mod thoughts;

use self::decode::ChatDecoder;
pub(crate) use self::dialect::ChatDialect;
pub use self::dialect::{
    CallArguments, Dialect, DialectChanges, LimitField, Pictures, ReasoningField, StreamUsage,
    ThinkingField,
};
use super::openai::{bearer, refused};
use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// The name of the protocol.
const PROTOCOL: &str = "openai-chat";

/// The Chat Completions protocol, as one service speaks it.
#[derive(Clone, Debug)]
pub(crate) struct OpenAiChat {
    dialect: ChatDialect,
}

impl OpenAiChat {
    /// Makes the protocol in a dialect.
    pub(crate) fn new(dialect: ChatDialect) -> Self {
        Self { dialect }
    }
}

impl Wire for OpenAiChat {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn credential(&self, key: &str) -> (&'static str, String) {
        bearer(key)
    }

    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded {
        encode::encode(&self.dialect, model, request)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ChatDecoder::default())
    }

    fn refused(&self, refusal: &Refusal) -> ModelError {
        refused(refusal)
    }
}
