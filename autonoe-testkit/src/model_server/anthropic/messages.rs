//! The Messages API: its paths and its shape.

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::{Value, json};

use crate::model_server::api::Head;
use crate::model_server::event::Event;
use crate::model_server::ids::Ids;
use crate::model_server::vendor::{Asked, Refused, Vendor, Wire};
use crate::model_server::{Message, Prompt, Refusal};

use super::{events, read, refusal};

/// Anthropic, with its one API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anthropic;

impl Vendor for Anthropic {
    fn asked(&self, head: Head<'_>, body: &Bytes) -> Asked {
        let read = |asked: fn(Box<Prompt>, &Bytes) -> Asked| match read::prompt(body) {
            Ok(prompt) => asked(Box::new(prompt), body),
            Err(reason) => Asked::Unreadable(reason),
        };
        match (head.method, head.path) {
            ("POST", "/v1/messages") => read(|prompt, _| Asked::Message(&Anthropic, prompt)),
            ("POST", "/v1/messages/count_tokens") => read(|prompt, body| {
                // About four bytes of JSON make a token.
                let tokens = (body.len() / 4).max(1);
                Asked::Count(prompt, json!({"input_tokens": tokens}))
            }),
            // Where programs look whether anybody is there.
            ("GET" | "HEAD", "/" | "/api/hello") => Asked::Fixed(json!({})),
            _ => Asked::Nothing,
        }
    }

    fn refuse(&self, refusal: &Refusal, ids: Ids) -> Refused {
        refusal::refuse(refusal, &ids.of("req"))
    }

    fn request_id(&self, ids: Ids) -> Option<(HeaderName, String)> {
        Some((HeaderName::from_static("request-id"), ids.of("req")))
    }
}

impl Wire for Anthropic {
    fn whole(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Value, String> {
        events::whole(message, prompt, ids)
    }

    fn stream(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Vec<Event>, String> {
        events::stream(message, prompt, ids)
    }

    fn malformed(&self) -> Event {
        let broken = r#"{"type": "content_block_delta", broken"#;
        Event::text(Some("content_block_delta"), broken)
    }

    fn error(&self, kind: &str, message: &str, _: usize) -> Event {
        let error = json!({"type": "error", "error": {"type": kind, "message": message}});
        Event::named("error", &error)
    }
}
