//! [`Output`]: prints to standard output and standard error.

use std::io::{self, Write};
use std::sync::{Mutex, PoisonError};

use autonoe_app::AppError;
use autonoe_core::sanitize;
use serde::Serialize;

/// State of the reader of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReaderState {
    /// The result was written.
    Open,
    /// The reader closed the pipe.
    Closed,
}

/// Prints results to standard output and everything else to standard error.
pub(crate) struct Output {
    results: Mutex<Box<dyn Write + Send>>,
    notes: Mutex<Box<dyn Write + Send>>,
}

impl Output {
    pub(crate) fn standard() -> Self {
        Self::new(io::stdout(), io::stderr())
    }

    pub(crate) fn new(
        results: impl Write + Send + 'static,
        notes: impl Write + Send + 'static,
    ) -> Self {
        Self {
            results: Mutex::new(Box::new(results)),
            notes: Mutex::new(Box::new(notes)),
        }
    }

    /// Prints a whole result and flushes it. A reader that closes the pipe, such as `head`, is not
    /// an error.
    pub(crate) fn result(&self, text: &str) -> Result<ReaderState, AppError> {
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        let written = results.write_all(text.as_bytes());
        match written.and_then(|()| results.flush()) {
            Ok(()) => Ok(ReaderState::Open),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ReaderState::Closed),
            Err(error) => Err(AppError::failure(format!(
                "standard output cannot be written to: {error}"
            ))),
        }
    }

    /// Prints a result as multi-line JSON.
    pub(crate) fn json(&self, result: &impl Serialize) -> Result<(), AppError> {
        let text = serde_json::to_string_pretty(result).map_err(|error| {
            AppError::failure(format!("the output cannot be written as JSON: {error}"))
        })?;
        self.result(&format!("{text}\n")).map(drop)
    }

    /// Prints a line that is not a result.
    pub(crate) fn note(&self, text: &str) {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        // A closed standard error is not an error.
        let _ = writeln!(notes, "{}", sanitize(text));
    }

    pub(crate) fn error(&self, error: &AppError) {
        self.note(&format!("error: {error}"));
        if let Some(hint) = error.hint() {
            self.note(&format!("  hint: {hint}"));
        }
    }
}
