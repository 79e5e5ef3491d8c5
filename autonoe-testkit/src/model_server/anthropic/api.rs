//! The paths of the API.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};
use serde_json::json;

use crate::model_server::Answer;
use crate::model_server::api::{Decision, Head, ModelApi, Reply};

use super::ids::IdCounter;
use super::playing::{Playing, Taken};
use super::{MessagesRequest, Refusal, Request, reply};

/// The Messages API, played from a script.
#[derive(Debug)]
pub(super) struct AnthropicApi {
    playing: Arc<Playing>,
    ids: IdCounter,
}

impl AnthropicApi {
    pub(super) fn new(playing: Arc<Playing>) -> Self {
        Self {
            playing,
            ids: IdCounter::for_new_server(),
        }
    }

    fn next_message(&self, request: &MessagesRequest) -> (Answer, Duration, Reply) {
        let ids = self.ids.next();
        let (answer, turn) = match self.playing.take(request) {
            Taken::Turn(answer, turn) => (answer, turn),
            Taken::Nothing(reason) => return self.unanswered(reason),
        };
        match reply::reply(&turn, request, ids) {
            Ok(reply) => (answer, turn.delay, reply),
            Err(reason) => self.unanswered(reason),
        }
    }

    /// Refuses in a way that programs show to their users and do not try again. A newer
    /// Claude Code asks six times where the status is 400, with less in each request.
    fn unanswered(&self, reason: String) -> (Answer, Duration, Reply) {
        let message = format!("the scripted model server has no answer: {reason}");
        let refusal = Refusal::new(418, "api_error", message);
        let reply = reply::refuse(&refusal, self.ids.next());
        (Answer::Unanswered(reason), Duration::ZERO, reply)
    }

    /// Answers without regard to the script.
    fn fixed(&self, head: Head<'_>, body: &Bytes) -> (Answer, Duration, Reply) {
        let ids = self.ids.next();
        let ok = |body| reply::json(StatusCode::OK, HeaderMap::new(), &body, ids);
        let (answer, reply) = match (head.method, head.path) {
            // Where programs look whether anybody is there.
            ("GET" | "HEAD", "/" | "/api/hello") => (Answer::Fixed, ok(json!({}))),
            ("POST", "/v1/messages/count_tokens") => {
                // About four bytes of JSON make a token.
                let tokens = (body.len() / 4).max(1);
                (Answer::Fixed, ok(json!({"input_tokens": tokens})))
            }
            (method, path) => {
                let message = format!("the scripted model server has no {method} {path}");
                let refusal = Refusal::new(404, "not_found_error", message);
                (Answer::NotFound, reply::refuse(&refusal, ids))
            }
        };
        (answer, Duration::ZERO, reply)
    }
}

impl ModelApi for AnthropicApi {
    type Request = Request;

    fn answer(&self, head: Head<'_>, body: &Bytes) -> Decision<Request> {
        let other = || Request::Other(String::from_utf8_lossy(body).into_owned());
        let read = || MessagesRequest::from_json(body);
        let (request, (answer, delay, reply)) = match (head.method, head.path) {
            ("POST", "/v1/messages") => match read() {
                Ok(request) => {
                    let answer = self.next_message(&request);
                    (Request::Messages(request), answer)
                }
                Err(reason) => (other(), self.unanswered(reason)),
            },
            ("POST", "/v1/messages/count_tokens") => match read() {
                Ok(request) => (Request::CountTokens(request), self.fixed(head, body)),
                Err(reason) => (other(), self.unanswered(reason)),
            },
            _ => (other(), self.fixed(head, body)),
        };
        Decision {
            request,
            answer,
            delay,
            reply,
        }
    }
}
