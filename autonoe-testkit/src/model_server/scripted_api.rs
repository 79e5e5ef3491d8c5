//! [`ScriptedApi`]: the API of a vendor, answered from a script.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use super::api::{ClassifiedRequest, Decision, Head, ModelApi, Reply, Vendor, Wire};
use super::ids::IdCounter;
use super::script::{NextAnswer, ScriptState};
use super::turn::Replies;
use super::{ReceivedPrompt, Refusal, Request, ServerAnswer};

/// The API of a vendor, played from a script.
#[derive(Debug)]
pub(super) struct ScriptedApi<V> {
    vendor: V,
    playing: Arc<ScriptState>,
    ids: IdCounter,
}

impl<V: Vendor> ScriptedApi<V> {
    pub(super) fn new(vendor: V, playing: Arc<ScriptState>) -> Self {
        Self {
            vendor,
            playing,
            ids: IdCounter::for_new_server(),
        }
    }

    fn replies(&self) -> Replies<'_> {
        Replies::new(&self.vendor, self.ids.next())
    }

    fn next_message(
        &self,
        wire: &dyn Wire,
        prompt: &ReceivedPrompt,
    ) -> (ServerAnswer, Duration, Reply) {
        let replies = self.replies();
        let (answer, turn) = match self.playing.next_answer(prompt) {
            NextAnswer::Turn(answer, turn) => (answer, turn),
            NextAnswer::Nothing(reason) => return self.unanswered(reason),
        };
        match replies.turn(&turn, wire, prompt) {
            Ok(reply) => (answer, turn.delay, reply),
            Err(reason) => self.unanswered(reason),
        }
    }

    fn unanswered(&self, reason: String) -> (ServerAnswer, Duration, Reply) {
        let reply = self.replies().refuse(&Refusal::no_answer(&reason));
        (ServerAnswer::Unanswered(reason), Duration::ZERO, reply)
    }
}

impl<V: Vendor> ModelApi for ScriptedApi<V> {
    type Request = Request;

    fn answer(&self, head: Head<'_>, body: &Bytes) -> Decision<Request> {
        let other = || Request::Other(String::from_utf8_lossy(body).into_owned());
        let fixed = |answer| {
            let reply = self
                .replies()
                .json(StatusCode::OK, HeaderMap::new(), &answer);
            (ServerAnswer::Fixed, Duration::ZERO, reply)
        };
        let (request, (answer, delay, reply)) = match self.vendor.classify(head, body) {
            ClassifiedRequest::Message(wire, prompt) => {
                let answer = self.next_message(wire, &prompt);
                (Request::Messages(*prompt), answer)
            }
            ClassifiedRequest::Count(prompt, answer) => {
                (Request::CountTokens(*prompt), fixed(answer))
            }
            ClassifiedRequest::Fixed(answer) => (other(), fixed(answer)),
            ClassifiedRequest::Unreadable(reason) => (other(), self.unanswered(reason)),
            ClassifiedRequest::Nothing => {
                let refusal = Refusal::no_such_path(head.method, head.path);
                let reply = self.replies().refuse(&refusal);
                (other(), (ServerAnswer::NotFound, Duration::ZERO, reply))
            }
        };
        Decision {
            request,
            answer,
            delay,
            reply,
        }
    }
}
