//! [`SessionsInput`]: the input of a run that is driven session by session, and its [`Losses`].

use autonoe_core::engine::{RunInstruction, RunSpec};
use autonoe_core::run::RunMachine;
use autonoe_core::time::Epoch;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::SessionsRun;
use super::activities::Claim;
use crate::Timeouts;

/// The input of such a run, or of its continuation with a new history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionsInput {
    pub run: RunSpec,
    pub sessions: SessionsRun,
    /// The queue of the host that the run is bound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host_queue: Option<String>,
    pub timeouts: Timeouts,
    /// The state at the end of the previous history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried: Option<CarriedState>,
}

/// The state of a run in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedState {
    pub machine: RunMachine,
    /// The host of the run.
    pub claim: Option<Claim>,
    /// The highest epoch of the run so far.
    pub epoch: Epoch,
    /// Instructions that are not processed yet.
    pub inbox: Vec<RunInstruction>,
    pub is_paused: bool,
    /// Failed attempts of the session in progress.
    #[serde(default)]
    pub tries: u32,
    /// Known losses of the session in progress.
    #[serde(default)]
    pub losses: Losses,
    /// The time of the last event.
    pub at: Timestamp,
}

impl CarriedState {
    /// The state of a run that has not started.
    pub(crate) fn initial(sessions: &SessionsRun) -> Self {
        Self {
            machine: RunMachine::new(sessions.limits.clone()),
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

/// The known losses of a session: it started and left no recorded end. The cost of a lost session
/// is unknown.
///
/// A dead worker may have recorded the end of the session on its host, or may never have started
/// it; the host's journal decides. A session on an unreachable host counts as lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Losses {
    /// The number of unreachable hosts that lost the session.
    hosts: u32,
    /// Whether it was lost on the current host.
    is_lost_here: bool,
}

impl Losses {
    pub(super) fn worker_lost(&mut self) {
        self.is_lost_here = true;
    }

    pub(super) fn host_lost(&mut self) {
        self.hosts += u32::from(self.is_lost_here);
        self.is_lost_here = false;
    }

    /// Returns the number of losses, given the losses that the host has recorded.
    pub(super) fn answered(&self, recorded: u32) -> u32 {
        self.hosts.max(recorded)
    }

    /// Returns the number of losses, if no host answers.
    pub(super) fn unanswered(&self) -> u32 {
        self.hosts + u32::from(self.is_lost_here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worker_losses_follow_the_record_of_the_host() {
        let mut losses = Losses::default();
        losses.worker_lost();
        losses.worker_lost();

        assert_eq!(losses.answered(0), 0);
        assert_eq!(losses.answered(2), 2);
        assert_eq!(losses.unanswered(), 1);
    }

    #[test]
    fn host_losses_ignore_records_of_the_next_host() {
        let mut losses = Losses::default();
        losses.worker_lost();
        losses.host_lost();
        // No worker accepted it there.
        losses.host_lost();

        assert_eq!(losses.answered(0), 1);
        assert_eq!(losses.answered(1), 1);
        assert_eq!(losses.unanswered(), 1);
    }
}
