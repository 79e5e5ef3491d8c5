//! [`HeartbeatState`]: heartbeat details of a run in progress.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::engine::RunProgress;
use tokio::sync::watch;

use crate::wire::Heartbeat;

/// Collects the heartbeat details of a run for the task that sends heartbeats.
#[derive(Clone, Debug)]
pub(crate) struct HeartbeatState {
    heartbeat: watch::Sender<Heartbeat>,
    /// Flags of settled instructions, starting at the first unsettled one.
    settled: Arc<Mutex<Vec<bool>>>,
}

impl HeartbeatState {
    /// Continues from the last heartbeat of the previous attempt.
    pub(crate) fn resume_from(heartbeat: Heartbeat) -> Self {
        Self {
            heartbeat: watch::Sender::new(heartbeat),
            settled: Arc::default(),
        }
    }

    /// Returns a receiver of the current details and of each change.
    pub(crate) fn watch(&self) -> watch::Receiver<Heartbeat> {
        self.heartbeat.subscribe()
    }

    pub(crate) fn latest(&self) -> Heartbeat {
        self.heartbeat.borrow().clone()
    }

    /// Sets the progress of the run.
    pub(crate) fn set_progress(&self, at: RunProgress) {
        self.heartbeat.send_modify(|beat| beat.at = at);
    }

    /// Marks an instruction as settled, so that it is not repeated. Instructions after an unsettled
    /// one do not count yet: they are repeated with it, in order and with the same IDs.
    pub(crate) fn settle(&self, number: usize) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        self.heartbeat.send_if_modified(|beat| {
            let Some(place) = number.checked_sub(beat.settled) else {
                return false;
            };
            if settled.len() <= place {
                settled.resize(place + 1, false);
            }
            settled[place] = true;
            let count = settled.iter().take_while(|settled| **settled).count();
            settled.drain(..count);
            beat.settled += count;
            count > 0
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settled_counts_the_prefix_without_gaps() {
        let beats = HeartbeatState::resume_from(Heartbeat::default());

        beats.settle(1);
        assert_eq!(beats.latest().settled, 0);
        beats.settle(0);
        assert_eq!(beats.latest().settled, 2);
        beats.settle(3);
        beats.settle(2);

        assert_eq!(beats.latest().settled, 4);
    }

    #[test]
    fn the_next_attempt_continues_the_conversation() {
        let last = Heartbeat {
            at: RunProgress::new(0.5),
            settled: 3,
        };
        let beats = HeartbeatState::resume_from(last);

        beats.settle(2);
        beats.settle(3);

        assert_eq!(beats.latest().settled, 4);
        assert_eq!(beats.latest().at, RunProgress::new(0.5));
    }
}
