//! Formats the journal of a remote run as `autonoe log` does.

use autonoe_app::AppError;
use autonoe_app::text::EntryFormatter;
use autonoe_core::project::JournalEntry;
use autonoe_core::run::JournalLine;

/// Formats journal entries in order, as sentences or as JSON lines.
pub(super) struct JournalFormatter {
    formatter: EntryFormatter,
    json: bool,
    progress: Progress,
}

/// Formatted part of a journal.
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
            formatter: EntryFormatter::remote(),
            json,
            progress: Progress::Nothing,
        }
    }

    pub(super) fn progress(&self) -> Progress {
        self.progress
    }

    pub(super) fn format(&mut self, entries: &[JournalEntry]) -> Result<String, AppError> {
        let mut text = String::new();
        for entry in entries {
            self.progress = match entry.line {
                JournalLine::RunEnded { .. } => Progress::End,
                _ => Progress::Lines,
            };
            if self.json {
                let line = serde_json::to_string(entry).map_err(|error| {
                    AppError::failure(format!("a line cannot be written as JSON: {error}"))
                })?;
                text.push_str(&line);
                text.push('\n');
            } else {
                self.formatter.format(entry, &mut text);
            }
        }
        Ok(text)
    }
}
