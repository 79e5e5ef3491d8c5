//! The `generateContent` API of Google's Gemini models, as a stream.

mod conversation;
mod decode;
mod encode;
mod error;
mod parts;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// Names the protocol.
const PROTOCOL: &str = "gemini";

/// The `generateContent` API of Google's Gemini models.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeminiWire {
    /// Counts the answers that have no name of their own, for the names of their calls.
    nameless: Arc<AtomicU64>,
}

impl Wire for GeminiWire {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    // A key in the address would be in every log on the way.
    fn credential(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded {
        Encoded {
            path: encode::of_model(model),
            headers: Vec::new(),
            body: encode::body(model, request),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ContentDecoder::new(self.nameless.clone()))
    }

    fn refused(&self, refusal: &Refusal) -> ModelError {
        error::of_refusal(refusal)
    }
}
