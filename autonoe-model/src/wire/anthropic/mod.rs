//! The Messages API of Anthropic.

mod block;
mod conversation;
mod decode;
mod encode;
mod error;
mod thinking;

pub use thinking::ThinkingStyle;

use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// Names the protocol.
const PROTOCOL: &str = "anthropic-messages";

/// The version of the API that is spoken here.
const VERSION: &str = "2023-06-01";

/// The Messages API of Anthropic.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnthropicWire {
    /// How long an answer may be that nobody has limited; the API wants to know.
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

    fn refused(&self, refusal: &Refusal) -> ModelError {
        error::of_refusal(refusal)
    }
}
