//! `JsonLines`, an observer that prints events as JSON lines.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::{RunEvent, RunObserver};

use super::Presenter;
use crate::error::CliError;
use crate::results::{ReaderState, write_result};

/// Writes one event per line to standard output, as it happens.
///
/// A failed write ends the listing but not the run, because the work is worth more. The operator
/// gets a warning immediately, and `end` returns an error. No event is written after a
/// failed one, because a listing with a gap looks complete.
#[derive(Debug)]
pub(crate) struct JsonLines {
    presenter: Arc<Presenter>,
    listing: Mutex<Listing>,
}

/// State of the listing.
#[derive(Debug)]
enum Listing {
    /// All events so far were written.
    Complete,
    /// The reader closed the pipe.
    Closed,
    /// An event could not be written.
    Failed(String),
}

impl JsonLines {
    /// Creates a listing. `presenter` prints a warning if it becomes incomplete.
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            listing: Mutex::new(Listing::Complete),
        }
    }

    /// Returns an error if the listing is incomplete. A closed pipe is not an error.
    pub(crate) fn check_complete(&self) -> Result<(), CliError> {
        match &*self.listing.lock().unwrap_or_else(PoisonError::into_inner) {
            Listing::Complete | Listing::Closed => Ok(()),
            Listing::Failed(reason) => Err(CliError::failure(format!(
                "not all events of the run were written: {reason}"
            ))),
        }
    }
}

impl RunObserver for JsonLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*listing, Listing::Complete) {
            return;
        }
        let written = match serde_json::to_string(event) {
            Ok(line) => write_result(&format!("{line}\n")).map_err(|error| error.to_string()),
            Err(error) => Err(format!("an event cannot be written as JSON: {error}")),
        };
        *listing = match written {
            Ok(ReaderState::Open) => Listing::Complete,
            Ok(ReaderState::Closed) => Listing::Closed,
            Err(reason) => {
                self.presenter.warn(&format!(
                    "the run continues, but its events are no longer written: {reason}"
                ));
                Listing::Failed(reason)
            }
        };
    }
}
