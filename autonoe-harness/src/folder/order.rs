//! What a sub-harness is to do, and what it came to: two files that never change.

use autonoe_core::{RunOutcome, RunSpec};

use super::file::{create_json, make_folder, read_json};
use super::{FolderError, HarnessFolder};

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ordered {
    /// It is new.
    New,
    /// It was there already.
    Again,
    /// There is another one.
    Conflict,
}

impl HarnessFolder {
    /// Writes down what is to be run, durably. The same order again changes nothing.
    ///
    /// # Errors
    ///
    /// There is another order ([`FolderError::Corrupt`] says so), or the folder cannot be written.
    pub fn submit(&self, order: &RunSpec) -> Result<(), FolderError> {
        match self.order_once(order)? {
            Ordered::New | Ordered::Again => Ok(()),
            Ordered::Conflict => {
                let path = self.file("order.json");
                Err(FolderError::corrupt(&path, "it holds another order"))
            }
        }
    }

    pub(crate) fn order_once(&self, order: &RunSpec) -> Result<Ordered, FolderError> {
        make_folder(&self.file("inbox"))?;
        make_folder(&self.file("taken"))?;
        if create_json(&self.file("order.json"), order)? {
            return Ok(Ordered::New);
        }
        Ok(match self.order()? == *order {
            true => Ordered::Again,
            false => Ordered::Conflict,
        })
    }

    /// Returns what is to be run.
    ///
    /// # Errors
    ///
    /// [`FolderError::NoOrder`], or it cannot be read or understood.
    pub fn order(&self) -> Result<RunSpec, FolderError> {
        let path = self.path().to_owned();
        read_json(&self.file("order.json"))?.ok_or(FolderError::NoOrder { path })
    }

    /// Returns what the run came to, once it has ended. It does not change any more.
    ///
    /// # Errors
    ///
    /// It cannot be read or understood.
    pub fn outcome(&self) -> Result<Option<RunOutcome>, FolderError> {
        read_json(&self.file("outcome.json"))
    }

    /// Writes down what the run came to, durably, and returns what stands there: the first word
    /// about it.
    ///
    /// # Errors
    ///
    /// It cannot be written, or what stands there cannot be read.
    pub fn settle(&self, outcome: &RunOutcome) -> Result<RunOutcome, FolderError> {
        let path = self.file("outcome.json");
        if create_json(&path, outcome)? {
            return Ok(outcome.clone());
        }
        let missing = || FolderError::corrupt(&path, "it was there and is not any more");
        self.outcome()?.ok_or_else(missing)
    }
}
