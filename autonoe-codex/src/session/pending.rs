//! Requests of the host that the program has not answered yet.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::wire::{RequestId, RpcError};

/// What the program answers: a value, or why there is none.
pub(super) type Answer = Result<Value, RpcError>;

/// Requests of the host that the program has not answered yet.
#[derive(Default)]
pub(super) struct Pending {
    asked: HashMap<i64, oneshot::Sender<Answer>>,
    count: i64,
}

impl Pending {
    /// Makes an id for a request, and what its answer comes through.
    ///
    /// When the program ends, the answer is that there is none: everything here is dropped.
    pub(super) fn ask(&mut self) -> (i64, oneshot::Receiver<Answer>) {
        self.count += 1;
        let (tell, told) = oneshot::channel();
        self.asked.insert(self.count, tell);
        (self.count, told)
    }

    /// Hands an answer to who asked. One that nobody asked for is ignored.
    pub(super) fn answered(&mut self, id: &RequestId, answer: Answer) {
        let asked = match id {
            RequestId::Number(number) => self.asked.remove(number),
            RequestId::Text(_) => None,
        };
        match asked {
            // Whoever asked may have given up.
            Some(asked) => drop(asked.send(answer)),
            None => tracing::debug!(?id, "an answer that nobody waits for"),
        }
    }
}
