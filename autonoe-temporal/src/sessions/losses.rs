//! Sessions that were lost with what they ran on.

use serde::{Deserialize, Serialize};

/// How often a session was lost, as far as is known: it began and left no end. What that cost
/// nobody knows.
///
/// A worker that is gone may have left the end of the session on its host, or may never have begun
/// it; the host has that written down. Who is gone with its host has lost it for all that one knows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Losses {
    /// The hosts that are gone with a session.
    hosts: u32,
    /// Whether it was lost on the host that the run is on.
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

    /// Returns how often it was lost, given how often by what its host has written down.
    pub(super) fn answered(&self, written_down: u32) -> u32 {
        self.hosts.max(written_down)
    }

    /// Returns how often it was lost, if no host tells.
    pub(super) fn unanswered(&self) -> u32 {
        self.hosts + u32::from(self.is_lost_here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lost_with_a_worker_is_what_its_host_has_written_down() {
        let mut losses = Losses::default();
        losses.worker_is_gone();
        losses.worker_is_gone();

        assert_eq!(losses.answered(0), 0);
        assert_eq!(losses.answered(2), 2);
        assert_eq!(losses.unanswered(), 1);
    }

    #[test]
    fn what_is_lost_with_a_host_is_lost_whatever_the_next_one_knows() {
        let mut losses = Losses::default();
        losses.worker_is_gone();
        losses.host_is_gone();
        // Nobody took it there.
        losses.host_is_gone();

        assert_eq!(losses.answered(0), 1);
        assert_eq!(losses.answered(1), 1);
        assert_eq!(losses.unanswered(), 1);
    }
}
