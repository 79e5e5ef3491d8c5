//! The paths of the Gemini API, and its shape.

use bytes::Bytes;
use hyper::header::HeaderName;
use serde_json::{Value, json};

use crate::model_server::api::Head;
use crate::model_server::event::Event;
use crate::model_server::ids::Ids;
use crate::model_server::vendor::{Asked, Refused, Vendor, Wire};
use crate::model_server::{Message, Prompt, Refusal};

use super::read::{self, Answered};
use super::{chunks, refusal};

/// Google, with its one API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gemini;

impl Vendor for Gemini {
    fn asked(&self, head: Head<'_>, body: &Bytes) -> Asked {
        let Some((model, method)) = model_and_method(head) else {
            return Asked::Nothing;
        };
        let answered = match method {
            "generateContent" | "countTokens" => Answered::Whole,
            "streamGenerateContent" if wants_events(head.query) => Answered::Stream,
            // It would be one JSON list, which comes piece by piece.
            "streamGenerateContent" => {
                return Asked::Unreadable("a stream is asked for without alt=sse".to_owned());
            }
            _ => return Asked::Nothing,
        };
        match (read::prompt(body, model, answered), method) {
            (Err(reason), _) => Asked::Unreadable(reason),
            (Ok(prompt), "countTokens") => {
                // About four bytes of JSON make a token.
                let tokens = (body.len() / 4).max(1);
                Asked::Count(Box::new(prompt), json!({"totalTokens": tokens}))
            }
            (Ok(prompt), _) => Asked::Message(&Gemini, Box::new(prompt)),
        }
    }

    fn refuse(&self, refusal: &Refusal, _: Ids) -> Refused {
        refusal::refuse(refusal)
    }

    fn request_id(&self, _: Ids) -> Option<(HeaderName, String)> {
        None
    }
}

impl Wire for Gemini {
    fn whole(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Value, String> {
        chunks::whole(message, prompt, ids)
    }

    fn stream(&self, message: &Message, prompt: &Prompt, ids: Ids) -> Result<Vec<Event>, String> {
        chunks::stream(message, prompt, ids)
    }

    fn malformed(&self) -> Event {
        Event::text(None, r#"{"candidates": [broken"#)
    }

    fn error(&self, kind: &str, message: &str, _: usize) -> Event {
        Event::data(&refusal::error(kind, message))
    }

    fn line_end(&self) -> &'static str {
        "\r\n"
    }
}

/// Returns what a path such as `/v1beta/models/gemini-x:generateContent` names.
fn model_and_method(head: Head<'_>) -> Option<(&str, &str)> {
    let path = head.path;
    let versions = ["/v1beta/models/", "/v1/models/"];
    let rest = versions.iter().find_map(|start| path.strip_prefix(start))?;
    rest.rsplit_once(':').filter(|_| head.method == "POST")
}

fn wants_events(query: &str) -> bool {
    query.split('&').any(|parameter| parameter == "alt=sse")
}
