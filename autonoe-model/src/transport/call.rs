//! One call of a model, from the request to its end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::HttpClient;
use super::answer::Body;
use super::answer::request_id;
use super::reading::{Progress, Reading};
use crate::contract::{ModelError, ModelErrorCode, ModelEvent};
use crate::wire::{Encoded, Wire};

/// How long the connection of an answer that is whole may take to say so.
const FAREWELL: Duration = Duration::from_millis(100);

/// A call that is under way. To drop it ends it.
pub(super) struct Call<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    stage: Stage,
    /// What is to be told before anything else happens.
    news: VecDeque<Result<ModelEvent, ModelError>>,
}

enum Stage {
    Asking(Encoded),
    Answering {
        body: Body,
        reading: Reading,
        request_id: Option<String>,
    },
    Over,
}

impl<W: Wire> Call<W> {
    pub(super) fn new(wire: Arc<W>, http: Arc<HttpClient>, encoded: Encoded) -> Self {
        Self {
            wire,
            http,
            stage: Stage::Asking(encoded),
            news: VecDeque::new(),
        }
    }

    /// Returns the next part of the answer; `None` after its end.
    pub(super) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Some(news.map_err(|error| self.http.without_secrets(error)));
            }
            let outcome = match std::mem::replace(&mut self.stage, Stage::Over) {
                Stage::Over => return None,
                Stage::Asking(encoded) => self.ask(&encoded).await,
                Stage::Answering {
                    body,
                    reading,
                    request_id,
                } => self.read(body, reading, request_id).await,
            };
            match outcome {
                Ok(stage) => self.stage = stage,
                Err(error) => self.news.push_back(Err(error)),
            }
        }
    }

    async fn ask(&mut self, encoded: &Encoded) -> Result<Stage, ModelError> {
        let answer = self.http.post(encoded).await?;
        let status = answer.status;
        tracing::debug!(protocol = self.wire.protocol(), %status, "the provider answers");
        if status.is_success() && answer.is_event_stream() {
            return Ok(Stage::Answering {
                request_id: request_id(&answer.headers),
                body: answer.body,
                reading: Reading::new(self.wire.decoder()),
            });
        }
        let refusal = answer.into_refusal().await;
        let mut error = if status.is_redirection() {
            nonsense("the provider sends us to another place, where its key must not go")
        } else if status.is_success() && !holds_error(&refusal.body) {
            nonsense("the provider sent something else than a stream of events")
        } else {
            self.wire.refused(&refusal)
        };
        // What took too long may have been worked on.
        if !status.is_success() && error.code != ModelErrorCode::Timeout {
            error = error.with_nothing_used();
        }
        error.status.get_or_insert(refusal.status);
        error.request_id = error.request_id.or(refusal.request_id);
        Err(error)
    }

    async fn read(
        &mut self,
        mut body: Body,
        reading: Reading,
        request_id: Option<String>,
    ) -> Result<Stage, ModelError> {
        let mut told = Vec::new();
        let whole = |reply| Progress::Whole(Box::new(reply));
        let progress = match body.next().await {
            Some(Ok(bytes)) => {
                let progress = reading.take(&bytes, &mut told);
                if told.is_empty() {
                    told.push(ModelEvent::Alive);
                }
                progress
            }
            Some(Err(error)) => reading.broke_off(error).map(whole),
            None => reading.ended(&mut told).map(whole),
        };
        self.news.extend(told.into_iter().map(Ok));
        match progress {
            Ok(Progress::More(reading)) => Ok(Stage::Answering {
                body,
                reading,
                request_id,
            }),
            Ok(Progress::Whole(reply)) => {
                self.news.push_back(Ok(ModelEvent::Done(reply)));
                body.drain(FAREWELL).await;
                Ok(Stage::Over)
            }
            Err(mut error) => {
                error.request_id = error.request_id.or(request_id);
                Err(error)
            }
        }
    }
}

fn nonsense(message: &str) -> ModelError {
    ModelError::new(ModelErrorCode::InvalidResponse, message)
}

/// Tells whether a body is the JSON of an error, or a list of such.
fn holds_error(body: &str) -> bool {
    let is_error = |value: &Value| value.get("error").is_some_and(|error| !error.is_null());
    match serde_json::from_str(body) {
        Ok(Value::Array(items)) => items.iter().any(is_error),
        Ok(value) => is_error(&value),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_known_by_its_field() {
        for (body, expected) in [
            (r#"{"type": "error", "error": {"type": "api_error"}}"#, true),
            (r#"[{"error": {"code": 400}}]"#, true),
            (r#"{"error": null, "content": []}"#, false),
            (r#"{"content": "error"}"#, false),
            ("[]", false),
            ("\"error\"", false),
            ("<html>error</html>", false),
            ("", false),
        ] {
            assert_eq!(holds_error(body), expected, "{body}");
        }
    }
}
