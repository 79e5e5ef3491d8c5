//! What a sub-harness is to do, and what it came to: two files that never change.

use autonoe_core::{RunOutcome, RunSpec};

use super::file::{create_json, make_folder, make_private_folder, read_bytes, read_json, to_bytes};
use super::fitting::fitting;
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
    /// [`FolderError::Id`] if the order has another id than the folder; there is another order
    /// ([`FolderError::Corrupt`] says so), or the folder cannot be written.
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
        if order.id.as_str() != self.id().as_str() {
            return Err(FolderError::Id {
                id: order.id.as_str().to_owned(),
                reason: "the folder has another one",
            });
        }
        make_private_folder(self.path())?;
        make_folder(&self.file("inbox"))?;
        make_folder(&self.file("taken"))?;
        if create_json(&self.file("order.json"), order)? {
            return Ok(Ordered::New);
        }
        // The same text first: a number with a fraction that is read again may have another last
        // digit than the one that was written.
        let path = self.file("order.json");
        let is_same_text = read_bytes(&path)? == Some(to_bytes(&path, order)?);
        Ok(match is_same_text || self.order()? == *order {
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
    /// about it. Of texts in its output that are too long to be kept, the end is.
    ///
    /// # Errors
    ///
    /// It cannot be written, or what stands there cannot be read.
    pub fn settle(&self, outcome: &RunOutcome) -> Result<RunOutcome, FolderError> {
        let path = self.file("outcome.json");
        let outcome = fitting(outcome);
        if create_json(&path, &*outcome)? {
            return Ok(outcome.into_owned());
        }
        let missing = || FolderError::corrupt(&path, "it was there and is not any more");
        self.outcome()?.ok_or_else(missing)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use autonoe_core::RunId;
    use serde_json::json;

    use super::*;
    use crate::HarnessId;

    fn folder(root: &Path) -> HarnessFolder {
        HarnessFolder::of(root, &HarnessId::new("a")).expect("an id")
    }

    #[test]
    fn the_same_order_with_a_fraction_is_the_same() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        // One that is read with another last digit than it was written with, if there is any.
        let mut fractions = (1..10_000).map(|n| 1.0 / f64::from(n));
        let is_read_otherwise = |number: &f64| {
            let text = serde_json::to_string(number).expect("a number");
            serde_json::from_str::<f64>(&text).expect("a number") != *number
        };
        let weight = fractions.find(is_read_otherwise).unwrap_or(0.1);
        let order = RunSpec::new(RunId::new("a"), "work", json!({"weight": weight}));
        let other = RunSpec::new(RunId::new("a"), "work", json!({"weight": 2}));

        folder.submit(&order).expect("writable");

        folder.submit(&order).expect("it is the same");
        assert!(folder.submit(&other).is_err());
    }

    #[test]
    fn an_order_of_another_id_is_refused_and_others_cannot_look_into_the_folder() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let order = |id: &str| RunSpec::new(RunId::new(id), "work", json!(null));

        let refused = folder.submit(&order("b"));
        folder.submit(&order("a")).expect("its own");

        assert!(matches!(refused, Err(FolderError::Id { .. })));
        let mode = fs::metadata(folder.path()).expect("there").permissions();
        assert_eq!(mode.mode() & 0o777, 0o700);
    }

    #[test]
    fn an_outcome_of_any_size_can_be_read_again() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let order = RunSpec::new(RunId::new("a"), "work", json!(null));
        folder.submit(&order).expect("writable");
        let output = json!({"output": "x".repeat(70 * 1024 * 1024)});

        let settled = folder.settle(&RunOutcome::succeeded(output));

        let settled = settled.expect("writable");
        assert_eq!(folder.outcome().expect("readable"), Some(settled));
        assert!(folder.view().expect("readable").outcome.is_some());
    }
}
