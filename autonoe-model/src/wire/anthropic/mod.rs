//! Messages API of Anthropic.

mod conversation;
mod decode;
mod encode;
mod error;

pub use encode::ThinkingStyle;

use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// Name of the protocol.
const PROTOCOL: &str = "anthropic-messages";

/// Version of the API.
const VERSION: &str = "2023-06-01";

/// Messages API of Anthropic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnthropicWire {
    /// Default limit on the length of an answer. The API requires one.
    pub(crate) max_output_tokens: u32,
    pub(crate) thinking: ThinkingStyle,
}

impl Wire for AnthropicWire {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn credential(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded {
        Encoded {
            path: "/v1/messages".to_owned(),
            headers: vec![("anthropic-version", VERSION.to_owned())],
            body: encode::body(self, model, request),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::MessageDecoder::default())
    }

    fn refusal_error(&self, refusal: &Refusal) -> ModelError {
        error::from_refusal(refusal)
    }
}
