//! Questions of the host that the program has not answered yet.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::oneshot;

use crate::wire::ControlResponse;

/// An answer of the program: a value, or why there is none.
pub(super) type Answer = Result<Option<Value>, String>;

/// Questions of the host that the program has not answered yet.
#[derive(Default)]
pub(super) struct Pending {
    asked: HashMap<String, oneshot::Sender<Answer>>,
    count: u64,
}

impl Pending {
    /// Makes an id for a question, and what its answer comes through.
    ///
    /// When the program ends, the answer is that there is none: everything here is dropped.
    pub(super) fn ask(&mut self) -> (String, oneshot::Receiver<Answer>) {
        self.count += 1;
        let id = format!("autonoe_{}", self.count);
        let (tell, told) = oneshot::channel();
        self.asked.insert(id.clone(), tell);
        (id, told)
    }

    /// Hands an answer to who asked. One that nobody asked for is ignored.
    pub(super) fn answered(&mut self, response: &ControlResponse<'_>) {
        let Some(asked) = self.asked.remove(response.request_id.as_ref()) else {
            tracing::debug!(id = %response.request_id, "an answer that nobody asked for");
            return;
        };
        let answer = match &response.answer {
            Ok(_) => Ok(response.value()),
            Err(error) => Err(error.to_string()),
        };
        // Whoever asked may have given up.
        let _ = asked.send(answer);
    }
}
