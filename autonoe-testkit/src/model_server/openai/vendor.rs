//! The paths of OpenAI's APIs.

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::json;

use crate::model_server::api::Head;
use crate::model_server::ids::Ids;
use crate::model_server::vendor::{Asked, Refused, Vendor, Wire};
use crate::model_server::{Prompt, Refusal};

use super::chat::{self, Chat};
use super::refusal;
use super::responses::{self, Responses};

/// OpenAI, with its two APIs.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenAi;

impl Vendor for OpenAi {
    fn asked(&self, head: Head<'_>, body: &Bytes) -> Asked {
        match (head.method, head.path) {
            ("POST", "/v1/responses") => message(&Responses, responses::prompt(body)),
            // Other services have it at other places.
            ("POST", path) if path.ends_with("/chat/completions") => {
                message(&Chat, chat::prompt(body))
            }
            // Where programs look which models there are.
            ("GET", "/v1/models") => {
                let model = json!({"id": "scripted", "object": "model", "owned_by": "scripted"});
                Asked::Fixed(json!({"object": "list", "data": [model], "models": []}))
            }
            _ => Asked::Nothing,
        }
    }

    fn refuse(&self, refusal: &Refusal, _: Ids) -> Refused {
        refusal::refuse(refusal)
    }

    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)> {
        Some((HeaderName::from_static("x-request-id"), ids.of("req")))
    }
}

fn message(wire: &'static dyn Wire, prompt: Result<Prompt, String>) -> Asked {
    match prompt {
        Ok(prompt) => Asked::Message(wire, Box::new(prompt)),
        Err(reason) => Asked::Unreadable(reason),
    }
}
