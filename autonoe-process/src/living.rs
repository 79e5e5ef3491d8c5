//! The children that are kept right now.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::Marker;
use crate::deadline::Deadline;

static LIVING: Mutex<Vec<Marker>> = Mutex::new(Vec::new());

fn living() -> MutexGuard<'static, Vec<Marker>> {
    LIVING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every child that this program has started, and all that has their markers, and returns
/// how many processes are left when the limit is over.
///
/// This is for a program that must end at once, because a person has asked for it a second time:
/// nothing gets a chance to end in an orderly way. It blocks the thread. Only on Linux; elsewhere
/// it finds nothing.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(autonoe_process::kill_everything(Duration::from_secs(2)), 0);
/// ```
pub fn kill_everything(limit: Duration) -> usize {
    let deadline = Deadline::after(limit);
    let markers = living().clone();
    let left = markers
        .iter()
        .map(|marker| marker.kill_all(deadline.left().unwrap_or(limit)).left.len());
    left.sum()
}

/// One child that is kept, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Living(Marker);

impl Living {
    pub(crate) fn begin(marker: Marker) -> Self {
        living().push(marker.clone());
        Self(marker)
    }
}

impl Drop for Living {
    fn drop(&mut self) {
        let mut living = living();
        if let Some(index) = living.iter().position(|marker| *marker == self.0) {
            living.swap_remove(index);
        }
    }
}
