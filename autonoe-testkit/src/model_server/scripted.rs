//! The API of a vendor, played from a script.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::{HeaderMap, StatusCode};

use super::api::{Decision, Head, ModelApi, Reply};
use super::ids::IdCounter;
use super::playing::{Playing, Taken};
use super::reply::Replies;
use super::vendor::{Asked, Vendor, Wire};
use super::{Answer, Prompt, Refusal, Request};

/// The API of a vendor, played from a script.
#[derive(Debug)]
pub(super) struct ScriptedApi<V> {
    vendor: V,
    playing: Arc<Playing>,
    ids: IdCounter,
}

impl<V: Vendor> ScriptedApi<V> {
    pub(super) fn new(vendor: V, playing: Arc<Playing>) -> Self {
        Self {
            vendor,
            playing,
            ids: IdCounter::for_new_server(),
        }
    }

    fn replies(&self) -> Replies<'_> {
        Replies::new(&self.vendor, self.ids.next())
    }

    fn next_message(&self, wire: &dyn Wire, prompt: &Prompt) -> (Answer, Duration, Reply) {
        let replies = self.replies();
        let (answer, turn) = match self.playing.take(prompt) {
            Taken::Turn(answer, turn) => (answer, turn),
            Taken::Nothing(reason) => return self.unanswered(reason),
        };
        match replies.turn(&turn, wire, prompt) {
            Ok(reply) => (answer, turn.delay, reply),
            Err(reason) => self.unanswered(reason),
        }
    }

    fn unanswered(&self, reason: String) -> (Answer, Duration, Reply) {
        let reply = self.replies().refuse(&Refusal::no_answer(&reason));
        (Answer::Unanswered(reason), Duration::ZERO, reply)
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
            (Answer::Fixed, Duration::ZERO, reply)
        };
        let (request, (answer, delay, reply)) = match self.vendor.asked(head, body) {
            Asked::Message(wire, prompt) => {
                let answer = self.next_message(wire, &prompt);
                (Request::Messages(*prompt), answer)
            }
            Asked::Count(prompt, answer) => (Request::CountTokens(*prompt), fixed(answer)),
            Asked::Fixed(answer) => (other(), fixed(answer)),
            Asked::Unreadable(reason) => (other(), self.unanswered(reason)),
            Asked::Nothing => {
                let refusal = Refusal::no_such_path(head.method, head.path);
                let reply = self.replies().refuse(&refusal);
                (other(), (Answer::NotFound, Duration::ZERO, reply))
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
