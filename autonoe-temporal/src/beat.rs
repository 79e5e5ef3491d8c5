//! What a worker says of a run under way.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::RunProgress;
use tokio::sync::watch;

use crate::wire::Beat;

/// Collects what is to be said of a run, for who says it.
#[derive(Clone, Debug)]
pub(crate) struct Beats {
    beat: watch::Sender<Beat>,
    /// Which instructions are settled, from the first that was not.
    settled: Arc<Mutex<Vec<bool>>>,
}

impl Beats {
    /// Goes on from what the attempt before had said.
    pub(crate) fn after(beat: Beat) -> Self {
        Self {
            beat: watch::Sender::new(beat),
            settled: Arc::default(),
        }
    }

    /// Returns what is to be said, and that again whenever it changes.
    pub(crate) fn watch(&self) -> watch::Receiver<Beat> {
        self.beat.subscribe()
    }

    pub(crate) fn latest(&self) -> Beat {
        self.beat.borrow().clone()
    }

    /// Says how far the run is.
    pub(crate) fn reached(&self, at: RunProgress) {
        self.beat.send_modify(|beat| beat.at = at);
    }

    /// Says that an instruction needs not be told again. Those after one that must be are not
    /// counted: they are told again with it, in their order and under their ids.
    pub(crate) fn settle(&self, number: usize) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        self.beat.send_if_modified(|beat| {
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
    fn what_is_settled_is_counted_from_the_first() {
        let beats = Beats::after(Beat::default());

        beats.settle(1);
        assert_eq!(beats.latest().settled, 0);
        beats.settle(0);
        assert_eq!(beats.latest().settled, 2);
        beats.settle(3);
        beats.settle(2);

        assert_eq!(beats.latest().settled, 4);
    }

    #[test]
    fn the_next_attempt_goes_on_from_what_was_said() {
        let said = Beat {
            at: RunProgress::of(0.5),
            settled: 3,
        };
        let beats = Beats::after(said);

        beats.settle(2);
        beats.settle(3);

        assert_eq!(beats.latest().settled, 4);
        assert_eq!(beats.latest().at, RunProgress::of(0.5));
    }
}
