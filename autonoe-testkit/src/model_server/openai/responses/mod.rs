//! Wire format of the Responses API.

mod events;
mod read;
mod response;

use serde_json::{Value, json};

use crate::model_server::api::{Failure, Wire};
use crate::model_server::ids::Ids;
use crate::model_server::streamed_body::Event;
use crate::model_server::{ReceivedPrompt, ScriptedMessage};

pub(super) use read::prompt;

/// The wire format of the Responses API.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responses;

impl Wire for Responses {
    fn encode_message(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Value, String> {
        let items = response::items(message, prompt, ids)?;
        response::ended(message, prompt, ids, items)
    }

    fn stream(
        &self,
        message: &ScriptedMessage,
        prompt: &ReceivedPrompt,
        ids: Ids,
    ) -> Result<Vec<Event>, String> {
        events::stream(message, prompt, ids)
    }

    fn malformed(&self) -> Event {
        let broken = r#"{"type": "response.output_text.delta", broken"#;
        Event::text(Some("response.output_text.delta"), broken)
    }

    fn error(&self, kind: &str, message: &str, sent: usize) -> Event {
        let error = json!({
            "type": "error",
            "code": kind,
            "message": message,
            "param": null,
            "sequence_number": sent,
        });
        Event::named("error", &error)
    }

    fn failed(
        &self,
        failure: Failure<'_>,
        prompt: &ReceivedPrompt,
        ids: Ids,
        sent: usize,
    ) -> Event {
        let failed = json!({
            "type": "response.failed",
            "response": response::failed(failure, prompt, ids),
            "sequence_number": sent,
        });
        Event::named("response.failed", &failed)
    }
}
