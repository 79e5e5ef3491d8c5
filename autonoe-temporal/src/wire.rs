//! What travels between engines, the server and workers. All of it is kept by the server.

// Named in items that the macros of the SDK make public.
#![allow(unreachable_pub)]

use autonoe_core::{RunInstruction, RunProgress, RunSpec};
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
}

/// The instructions after some number of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told(pub Vec<RunInstruction>);

/// Where the run of a workflow is kept for who submits it again.
pub(crate) const SPEC_MEMO: &str = "autonoe-run";

/// Returns the queue of one host among those that serve `queue`.
pub(crate) fn host_queue(queue: &str, host: &str) -> String {
    format!("{queue}@{host}")
}
