//! What sessions do, as lines in the log of a sub-harness.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use autonoe_core::{RunEvent, RunObserver};
use autonoe_harness::HarnessLog;
use jiff::Timestamp;

use crate::present::{LineTeller, harmless_line};

/// Writes what sessions do into the log of a sub-harness, in the words of a run.
#[derive(Debug)]
pub(super) struct LogLines {
    log: Mutex<HarnessLog>,
    teller: Mutex<LineTeller>,
}

impl LogLines {
    pub(super) fn new(log: HarnessLog) -> Self {
        Self {
            log: Mutex::new(log),
            teller: Mutex::default(),
        }
    }
}

impl RunObserver for LogLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut teller = self.teller.lock().unwrap_or_else(PoisonError::into_inner);
        for line in teller.tell(event) {
            let line = format!("{} {}\n", Timestamp::now(), harmless_line(&line));
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            // A log that cannot be written holds up no work.
            let _ = log.write_all(line.as_bytes());
        }
    }
}
