//! Decisions about the calls of a program, and the tasks that send them.

use std::collections::HashMap;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use autonoe_core::ToolCall;
use autonoe_core::gate::{Gate, GateDecision};
use futures::FutureExt;
use tokio::task::AbortHandle;

/// The reason of a denial when the gate made no decision.
pub const FAILED_CHECK: &str = "a check of this call failed, so it is not allowed";

/// A denied call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedCall {
    /// The id of the call.
    pub call: String,
    /// The reason for the agent.
    pub reason: String,
}

/// Requests the decision of the gate about `call`.
///
/// # Errors
///
/// The gate denies the call, panics, or takes longer than `limit`. The error is the reason.
pub async fn decide_call(gate: &Gate, call: &ToolCall, limit: Duration) -> Result<(), String> {
    let decided = AssertUnwindSafe(gate.decide(call)).catch_unwind();
    match tokio::time::timeout(limit, decided).await {
        Ok(Ok(GateDecision::Allow { .. })) => Ok(()),
        Ok(Ok(GateDecision::Deny { reason, .. })) => Err(reason),
        Ok(Err(_)) | Err(_) => Err(FAILED_CHECK.to_owned()),
    }
}

/// Starts a task that passes the output of `answer` to `send`: `otherwise`, a denial, if `answer`
/// panics.
pub fn spawn_answer<T: Send + 'static>(
    answer: impl Future<Output = T> + Send + 'static,
    otherwise: T,
    send: impl FnOnce(T) + Send + 'static,
) -> AbortHandle {
    let task = tokio::spawn(async move {
        let answer = AssertUnwindSafe(answer).catch_unwind().await;
        send(answer.unwrap_or(otherwise));
    });
    task.abort_handle()
}

/// Tasks that answer the requests of a program, by the ids of the requests. Dropping it aborts
/// them.
#[derive(Debug)]
pub struct AnswerTasks<K> {
    tasks: HashMap<K, AbortHandle>,
}

impl<K> Default for AnswerTasks<K> {
    fn default() -> Self {
        Self {
            tasks: HashMap::new(),
        }
    }
}

impl<K> AnswerTasks<K> {
    /// Aborts all tasks.
    pub fn abort_all(&mut self) {
        for (_, task) in self.tasks.drain() {
            task.abort();
        }
    }
}

impl<K: Eq + Hash> AnswerTasks<K> {
    /// Starts a task that answers the request `id`, as [`spawn_answer`] does.
    pub fn spawn<T: Send + 'static>(
        &mut self,
        id: K,
        answer: impl Future<Output = T> + Send + 'static,
        otherwise: T,
        send: impl FnOnce(T) + Send + 'static,
    ) {
        self.tasks.retain(|_, task| !task.is_finished());
        self.tasks.insert(id, spawn_answer(answer, otherwise, send));
    }

    /// Aborts the task of a request that the program has withdrawn.
    pub fn abort(&mut self, id: &K) {
        if let Some(task) = self.tasks.remove(id) {
            task.abort();
        }
    }
}

impl<K> Drop for AnswerTasks<K> {
    fn drop(&mut self) {
        self.abort_all();
    }
}
