//! [`Losses`]: sessions that were lost with their worker or host.

use serde::{Deserialize, Serialize};

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
    pub(super) fn worker_is_gone(&mut self) {
        self.is_lost_here = true;
    }

    pub(super) fn host_is_gone(&mut self) {
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
        losses.worker_is_gone();
        losses.worker_is_gone();

        assert_eq!(losses.answered(0), 0);
        assert_eq!(losses.answered(2), 2);
        assert_eq!(losses.unanswered(), 1);
    }

    #[test]
    fn host_losses_ignore_records_of_the_next_host() {
        let mut losses = Losses::default();
        losses.worker_is_gone();
        losses.host_is_gone();
        // No worker accepted it there.
        losses.host_is_gone();

        assert_eq!(losses.answered(0), 1);
        assert_eq!(losses.answered(1), 1);
        assert_eq!(losses.unanswered(), 1);
    }
}
