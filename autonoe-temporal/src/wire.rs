//! What travels between engines, the server and workers. All of it is kept by the server.

// Named in items that the macros of the SDK make public.
#![allow(unreachable_pub)]

use autonoe_core::{JOURNAL_JOB, RunInstruction, RunProgress, RunSpec, RunWait};
use serde::{Deserialize, Serialize};

use crate::Pace;

/// What a run begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Begin {
    /// What is to be done.
    pub run: RunSpec,
    /// The queue of the host that it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<String>,
    /// How long to wait for what.
    pub pace: Pace,
}

/// What a worker says now and then. The next attempt is given the last one that arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Beat {
    /// How far it is.
    pub at: RunProgress,
    /// How many of the instructions are settled, from the first.
    pub settled: usize,
}

/// How a run stands, as its workflow knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Look {
    /// Whether it is to begin nothing more.
    pub is_paused: bool,
    /// How far it is, without what is under way; `None` if only a worker knows.
    pub at: Option<RunProgress>,
    /// What it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<RunWait>,
    /// How many bytes it was told that its agents have not heard.
    pub unheard: usize,
}

/// The instructions after some number of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told(pub Vec<RunInstruction>);

/// Where the run of a workflow is kept for who submits it again.
pub(crate) const SPEC_MEMO: &str = "autonoe-run";

/// Where the queue of the host is kept that a run is on, also after its end.
pub(crate) const HOST_MEMO: &str = "autonoe-host";

/// Returns the queue of one host among those that serve `queue`.
pub(crate) fn host_queue(queue: &str, host: &str) -> String {
    format!("{queue}@{host}")
}

/// Returns the host of such a queue.
pub(crate) fn host_of<'a>(host_queue: &'a str, queue: &str) -> Option<&'a str> {
    host_queue.strip_prefix(queue)?.strip_prefix('@')
}

/// Tells whether jobs of a kind only read what a run has written down.
pub(crate) fn reads(job: &str) -> bool {
    job == JOURNAL_JOB
}

/// Returns the queue of one host for what holds no slot of it: to read what a run has
/// written down, or to write down its end.
pub(crate) fn aside_queue(queue: &str, host: &str) -> String {
    aside_of(&host_queue(queue, host))
}

/// Returns that queue of the host that has the queue `host_queue`.
pub(crate) fn aside_of(host_queue: &str) -> String {
    format!("{host_queue}/aside")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_found_again_in_its_queue() {
        for host in ["build-1", "a@b", ""] {
            assert_eq!(host_of(&host_queue("shop@x", host), "shop@x"), Some(host));
        }
        assert_eq!(host_of("other@build-1", "shop"), None);
        assert_eq!(host_of("shopping@build-1", "shop"), None);
    }
}
