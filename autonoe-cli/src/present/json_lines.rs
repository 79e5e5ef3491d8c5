//! Shows a run to another program.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::{RunEvent, RunObserver};

use super::Presenter;
use crate::error::CliError;
use crate::results::{Reader, write_result};

/// Writes one event per line to standard output, as it happens.
///
/// An event that cannot be written ends the listing and not the run: the work is worth more. A
/// person is told at once, and whoever asked for the listing in the end, by [`end`](Self::end).
/// Nothing is written after that event, because a listing with a hole looks like a whole one.
#[derive(Debug)]
pub(crate) struct JsonLines {
    presenter: Arc<Presenter>,
    listing: Mutex<Listing>,
}

/// How far the listing has got.
#[derive(Debug)]
enum Listing {
    /// All events were written so far.
    Whole,
    /// The reader has seen enough.
    NotWanted,
    /// An event could not be written.
    BrokenOff(String),
}

impl JsonLines {
    /// Makes a listing; `presenter` warns of an incomplete one.
    pub(crate) fn new(presenter: Arc<Presenter>) -> Self {
        Self {
            presenter,
            listing: Mutex::new(Listing::Whole),
        }
    }

    /// Says whether the reader got all that it wanted.
    pub(crate) fn end(&self) -> Result<(), CliError> {
        match &*self.listing.lock().unwrap_or_else(PoisonError::into_inner) {
            Listing::Whole | Listing::NotWanted => Ok(()),
            Listing::BrokenOff(why) => Err(CliError::failure(format!(
                "not all events of the run were written: {why}"
            ))),
        }
    }
}

impl RunObserver for JsonLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut listing = self.listing.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*listing, Listing::Whole) {
            return;
        }
        let written = match serde_json::to_string(event) {
            Ok(line) => write_result(&format!("{line}\n")).map_err(|error| error.to_string()),
            Err(error) => Err(format!("an event cannot be written as JSON: {error}")),
        };
        *listing = match written {
            Ok(Reader::There) => Listing::Whole,
            Ok(Reader::Gone) => Listing::NotWanted,
            Err(why) => {
                self.presenter.warn(&format!(
                    "the run goes on, but its events are not written any more: {why}"
                ));
                Listing::BrokenOff(why)
            }
        };
    }
}
