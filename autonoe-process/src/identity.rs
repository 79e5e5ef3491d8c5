//! Which process it is, also for who did not start it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::family::Family;
use crate::ladder::{Deadline, Sweep};
use crate::{Marker, table};

/// Tells a process from every other one, also from a later one with the same number: its number,
/// when it was started, and since which start of the system that is counted.
///
/// It can be written down, and whoever comes later knows whether that process still lives. Only on
/// Linux; elsewhere there are none. It means nothing in another namespace of processes.
///
/// ```
/// use autonoe_process::ProcessIdentity;
///
/// # #[cfg(target_os = "linux")] {
/// let own = ProcessIdentity::own().expect("it lives");
/// assert!(own.lives());
///
/// let written_down = (own.pid(), own.started().to_owned());
/// assert_eq!(ProcessIdentity::new(written_down.0, written_down.1), own);
/// assert!(!ProcessIdentity::new(own.pid(), "at another time").lives());
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProcessIdentity {
    pid: u32,
    started: String,
}

impl ProcessIdentity {
    /// Makes an identity of what was written down.
    pub fn new(pid: u32, started: impl Into<String>) -> Self {
        Self {
            pid,
            started: started.into(),
        }
    }

    /// Returns the identity of this process.
    pub fn own() -> Option<Self> {
        Self::of(std::process::id())
    }

    /// Returns the identity of the process that has the number `pid` now.
    pub fn of(pid: u32) -> Option<Self> {
        let row = table::row_of(pid).filter(|row| !row.ended)?;
        let boot = table::boot()?;
        Some(Self::new(pid, format!("{}@{boot}", row.started)))
    }

    /// Returns the number of the process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns when it was started, in words that only mean something here.
    pub fn started(&self) -> &str {
        &self.started
    }

    /// Tells whether the process lives. One that waits for its parent to take notice does not.
    pub fn lives(&self) -> bool {
        Self::of(self.pid).as_ref() == Some(self)
    }

    /// Kills the process, all that descends from it and all that has `marker`, again and again
    /// until none is left or the limit is over. This process is left out.
    ///
    /// What has the number of a process that is gone is left alone. It blocks the thread.
    pub fn kill_tree(&self, marker: &Marker, limit: Duration) -> Sweep {
        let mut family = Family::marked(marker.clone());
        if self.lives()
            && let Some(row) = table::row_of(self.pid)
        {
            family.know(row.identity());
        }
        family.kill_all(limit)
    }
}

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
