//! `generateContent` API of Google's Gemini models, streamed.

mod conversation;
mod decode;
mod encode;
mod error;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{Decoder, Encoded, Refusal, Wire};
use crate::contract::{ModelError, ModelRequest};

/// Name of the protocol.
const PROTOCOL: &str = "gemini";

/// `generateContent` API of Google's Gemini models.
#[derive(Clone, Debug, Default)]
pub(crate) struct GeminiWire {
    /// Counts answers without an ID, to generate the IDs of their calls.
    unnamed_answers: Arc<AtomicU64>,
}

impl Wire for GeminiWire {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    // A key in the URL would appear in logs of intermediaries.
    fn credential(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn encode(&self, model: &str, request: &ModelRequest) -> Encoded {
        Encoded {
            path: encode::model_path(model),
            headers: Vec::new(),
            body: encode::body(model, request),
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(decode::ContentDecoder::new(self.unnamed_answers.clone()))
    }

    fn refusal_error(&self, refusal: &Refusal) -> ModelError {
        error::from_refusal(refusal)
    }
}
