//! `LogLines`, an observer that writes events of sessions to the log of a member.

use std::io::Write;
use std::sync::{Mutex, PoisonError};

use autonoe_app::text::sanitize_line;
use autonoe_core::{RunEvent, RunObserver};
use autonoe_harness::folder::MemberLog;
use jiff::Timestamp;

use crate::present::LineFormatter;

/// Writes events of sessions to the log of a member, as the lines that a run prints.
#[derive(Debug)]
pub(super) struct LogLines {
    log: Mutex<MemberLog>,
    formatter: Mutex<LineFormatter>,
}

impl LogLines {
    pub(super) fn new(log: MemberLog) -> Self {
        Self {
            log: Mutex::new(log),
            formatter: Mutex::default(),
        }
    }
}

impl RunObserver for LogLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut formatter = self
            .formatter
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        for line in formatter.format(event) {
            let line = format!("{} {}\n", Timestamp::now(), sanitize_line(&line));
            let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
            // A log that cannot be written does not interrupt the work.
            let _ = log.write_all(line.as_bytes());
        }
    }
}
