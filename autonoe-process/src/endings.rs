//! How many processes are being ended right now.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

static ENDINGS: Endings = Endings {
    count: Mutex::new(0),
    fewer: Condvar::new(),
};

struct Endings {
    count: Mutex<usize>,
    fewer: Condvar,
}

impl Endings {
    fn count(&self) -> MutexGuard<'_, usize> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits until every process whose handle was dropped has been ended, or `limit` is
/// over, and returns how many are left.
///
/// It is for the end of `main`: ladders go on in threads of their own, and those end
/// with the program. It blocks the thread.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(autonoe_process::wait_for_shut_downs(Duration::from_secs(15)), 0);
/// ```
pub fn wait_for_shut_downs(limit: Duration) -> usize {
    let waited = ENDINGS
        .fewer
        .wait_timeout_while(ENDINGS.count(), limit, |count| *count > 0);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// One process that is being ended, for as long as this lives.
#[derive(Debug)]
pub(crate) struct Ending(());

impl Ending {
    pub(crate) fn begin() -> Self {
        *ENDINGS.count() += 1;
        Self(())
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        *ENDINGS.count() -= 1;
        ENDINGS.fewer.notify_all();
    }
}
