//! Chat Completions protocol in the dialects of various services.

mod decode;
mod dialect;
mod encode;
mod reasoning;
#[cfg(test)]
mod tests;

use self::decode::ChatDecoder;
pub(crate) use self::dialect::ChatDialect;
pub use self::dialect::{
    CallArguments, Dialect, DialectChanges, LimitField, Pictures, ReasoningField, StreamUsage,
    ThinkingField,
};
use super::openai::{bearer, refusal_error};
use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// Name of the protocol.
const PROTOCOL: &str = "openai-chat";

/// Chat Completions protocol in the dialect of one service.
#[derive(Clone, Debug)]
pub(crate) struct OpenAiChat {
    dialect: ChatDialect,
}

impl OpenAiChat {
    /// Creates the protocol in a dialect.
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

    fn refusal_error(&self, refusal: &Refusal) -> ModelError {
        refusal_error(refusal)
    }
}
