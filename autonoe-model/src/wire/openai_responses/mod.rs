//! Responses protocol of OpenAI.
//!
//! Nothing is stored at the service: each request contains the whole conversation, with the model's
//! own items in their original form, including hidden reasoning.

mod decode;
mod encode;
mod item;
#[cfg(test)]
mod tests;

pub use encode::{ReasoningModels, ReasoningSummary};

use self::decode::ResponsesDecoder;
pub(crate) use self::encode::ResponsesOptions;
use super::openai::{bearer, refusal_error};
use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// Name of the protocol.
const PROTOCOL: &str = "openai-responses";

/// Responses protocol of OpenAI.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenAiResponses {
    options: ResponsesOptions,
}

impl OpenAiResponses {
    /// Creates the protocol with `options`.
    pub(crate) fn new(options: ResponsesOptions) -> Self {
        Self { options }
    }
}

impl Wire for OpenAiResponses {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn credential(&self, key: &str) -> (&'static str, String) {
        bearer(key)
    }

    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded {
        encode::encode(&self.options, model, request)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ResponsesDecoder::default())
    }

    fn refusal_error(&self, refusal: &Refusal) -> ModelError {
        refusal_error(refusal)
    }
}
