//! What a run that is driven session by session begins with.

use autonoe_core::{Epoch, RunInstruction, RunMachine, RunSpec};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::SessionsRun;
use super::calls::Claim;
use super::losses::Losses;
use crate::Pace;

/// What such a run begins with, or goes on with when its history is begun anew.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsBegin {
    pub run: RunSpec,
    pub what: SessionsRun,
    /// The queue of the host that it is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<String>,
    pub pace: Pace,
    /// What was known when the history before this one ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<Carried>,
}

/// What is known of a run under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Carried {
    pub machine: RunMachine,
    /// The host that the run is on.
    pub claim: Option<Claim>,
    /// The highest epoch that the run has had.
    pub epoch: Epoch,
    /// What it was told and has not taken notice of.
    pub inbox: Vec<RunInstruction>,
    pub is_paused: bool,
    /// How often the session under way was tried in vain.
    #[serde(default)]
    pub tries: u32,
    /// How often it was lost, as far as is known.
    #[serde(default)]
    pub losses: Losses,
    /// When something happened last.
    pub at: Timestamp,
}

impl Carried {
    /// What is known of a run that has not begun.
    pub(crate) fn nothing(what: &SessionsRun) -> Self {
        Self {
            machine: RunMachine::new(what.limits.clone()),
            claim: None,
            epoch: Epoch(0),
            inbox: Vec::new(),
            is_paused: false,
            tries: 0,
            losses: Losses::default(),
            at: Timestamp::UNIX_EPOCH,
        }
    }
}
