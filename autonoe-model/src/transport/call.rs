//! [`Call`]: one model call over HTTP, from the request to its end.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::HttpClient;
use super::answer_parser::{AnswerParser, ParseProgress};
use super::response::Body;
use super::response::request_id;
use crate::contract::{ModelError, ModelErrorCode, ModelEvent};
use crate::wire::{Encoded, Wire};

/// Maximum time to drain the connection after a complete answer.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(100);

/// A call in progress. Dropping it ends it.
pub(super) struct Call<W> {
    wire: Arc<W>,
    http: Arc<HttpClient>,
    state: CallState,
    /// Events to emit before anything else.
    news: VecDeque<Result<ModelEvent, ModelError>>,
}

enum CallState {
    Asking(Encoded),
    Answering {
        body: Body,
        reading: AnswerParser,
        request_id: Option<String>,
    },
    Over,
}

impl<W: Wire> Call<W> {
    pub(super) fn new(wire: Arc<W>, http: Arc<HttpClient>, encoded: Encoded) -> Self {
        Self {
            wire,
            http,
            state: CallState::Asking(encoded),
            news: VecDeque::new(),
        }
    }

    /// Returns the next part of the answer; `None` after its end.
    pub(super) async fn next(&mut self) -> Option<Result<ModelEvent, ModelError>> {
        loop {
            if let Some(news) = self.news.pop_front() {
                return Some(news.map_err(|error| self.http.without_secrets(error)));
            }
            let outcome = match std::mem::replace(&mut self.state, CallState::Over) {
                CallState::Over => return None,
                CallState::Asking(encoded) => self.send_request(&encoded).await,
                CallState::Answering {
                    body,
                    reading,
                    request_id,
                } => self.read(body, reading, request_id).await,
            };
            match outcome {
                Ok(state) => self.state = state,
                Err(error) => self.news.push_back(Err(error)),
            }
        }
    }

    async fn send_request(&mut self, encoded: &Encoded) -> Result<CallState, ModelError> {
        let answer = self.http.post(encoded).await?;
        let status = answer.status;
        tracing::debug!(protocol = self.wire.protocol(), %status, "the provider answers");
        if status.is_success() && answer.is_event_stream() {
            return Ok(CallState::Answering {
                request_id: request_id(&answer.headers),
                body: answer.body,
                reading: AnswerParser::new(self.wire.decoder()),
            });
        }
        let refusal = answer.into_refusal().await;
        let mut error = if status.is_redirection() {
            invalid_response(
                "the provider redirects to another address, to which its key must not be sent; \
                 correct the base URL",
            )
        } else if status.is_success() && !holds_error(&refusal.body) {
            invalid_response("the provider sent something other than an event stream")
        } else {
            self.wire.refusal_error(&refusal)
        };
        // A request that timed out may have been processed.
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
        reading: AnswerParser,
        request_id: Option<String>,
    ) -> Result<CallState, ModelError> {
        let mut events = Vec::new();
        let whole = |reply| ParseProgress::Complete(Box::new(reply));
        let progress = match body.next().await {
            Some(Ok(bytes)) => {
                let progress = reading.push(&bytes, &mut events);
                if events.is_empty() {
                    events.push(ModelEvent::Alive);
                }
                progress
            }
            Some(Err(error)) => reading.fail(error).map(whole),
            None => reading.finish(&mut events).map(whole),
        };
        self.news.extend(events.into_iter().map(Ok));
        match progress {
            Ok(ParseProgress::More(reading)) => Ok(CallState::Answering {
                body,
                reading,
                request_id,
            }),
            Ok(ParseProgress::Complete(reply)) => {
                self.news.push_back(Ok(ModelEvent::Done(reply)));
                body.drain(DRAIN_TIMEOUT).await;
                Ok(CallState::Over)
            }
            Err(mut error) => {
                error.request_id = error.request_id.or(request_id);
                Err(error)
            }
        }
    }
}

fn invalid_response(message: &str) -> ModelError {
    ModelError::new(ModelErrorCode::InvalidResponse, message)
}

/// Returns whether a body is the JSON of an error, or a list with an error.
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
