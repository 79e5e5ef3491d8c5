//! Payloads between engines, the server and workers. The server stores all of them.

// Used by items that the macros of the SDK make public.
#![allow(unreachable_pub)]

use autonoe_core::engine::{RunInstruction, RunProgress, RunSpec, RunWait};
use serde::{Deserialize, Serialize};

use crate::Timeouts;

/// The input of the workflow of a job or a fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorkflowInput {
    /// The run.
    pub run: RunSpec,
    /// The queue of the host that the run is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<String>,
    /// Timeouts.
    pub timeouts: Timeouts,
}

/// The details of a heartbeat. The next attempt receives the last ones that arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Heartbeat {
    /// The progress.
    pub at: RunProgress,
    /// The number of settled instructions, counted from the first.
    pub settled: usize,
}

/// The state of a run, as its workflow knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct WorkflowState {
    /// Whether the run is paused.
    pub is_paused: bool,
    /// The progress without the activity in progress; `None` if only a worker knows it.
    pub at: Option<RunProgress>,
    /// The current wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<RunWait>,
    /// The number of bytes of undelivered messages.
    pub undelivered_bytes: usize,
}

/// The instructions after a position.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instructions(pub Vec<RunInstruction>);

/// Memo key of the run, which is compared when the run is submitted again.
pub(crate) const SPEC_MEMO: &str = "autonoe-run";

/// Memo key of the host's queue. It stays after the end of the run.
pub(crate) const HOST_MEMO: &str = "autonoe-host";

/// Returns the queue of one host among those that serve `queue`.
pub(crate) fn host_queue(queue: &str, host: &str) -> String {
    format!("{queue}@{host}")
}

/// Returns the host of such a queue.
pub(crate) fn host_of<'a>(host_queue: &'a str, queue: &str) -> Option<&'a str> {
    host_queue.strip_prefix(queue)?.strip_prefix('@')
}

/// Returns the side queue of one host, for activities that use no slot: reading the journal of a
/// run, or recording its end.
pub(crate) fn side_queue(queue: &str, host: &str) -> String {
    side_queue_of(&host_queue(queue, host))
}

/// Returns the side queue of the host with the queue `host_queue`.
pub(crate) fn side_queue_of(host_queue: &str) -> String {
    format!("{host_queue}/side")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_parsed_from_its_queue() {
        for host in ["build-1", "a@b", ""] {
            assert_eq!(host_of(&host_queue("shop@x", host), "shop@x"), Some(host));
        }
        assert_eq!(host_of("other@build-1", "shop"), None);
        assert_eq!(host_of("shopping@build-1", "shop"), None);
    }
}
