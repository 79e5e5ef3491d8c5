//! Formats the journal of a remote run as `autonoe log` does.

use autonoe_core::{JournalEntry, JournalLine};

use crate::commands::log::{Narrator, as_json};
use crate::error::CliError;

/// Formats journal entries in order, as sentences or as JSON lines.
pub(super) struct JournalFormatter {
    narrator: Narrator,
    json: bool,
    progress: Progress,
}

/// How much of a journal was formatted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Nothing,
    Lines,
    /// The line with which the run ended.
    End,
}

impl JournalFormatter {
    pub(super) fn new(json: bool) -> Self {
        Self {
            narrator: Narrator::elsewhere(),
            json,
            progress: Progress::Nothing,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    pub(super) fn format(&mut self, entries: &[JournalEntry]) -> Result<String, CliError> {
        let mut text = String::new();
        for entry in entries {
            self.progress = match entry.line {
                JournalLine::RunEnded { .. } => Progress::End,
                _ => Progress::Lines,
            };
            if self.json {
                text.push_str(&as_json(entry)?);
            } else {
                self.narrator.tell(entry, &mut text);
            }
        }
        Ok(text)
    }
}
