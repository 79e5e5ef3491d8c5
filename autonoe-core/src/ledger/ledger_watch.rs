//! [`LedgerWatch`], callbacks of a ledger to its run before a save and after a restore.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ledger::{LedgerHash, RepositoryError};

/// Callbacks of a ledger to the run that owns it.
pub(crate) trait LedgerWatch: Send + Sync {
    /// Records that the ledger with hash `from` is about to be replaced by one with hash `to`.
    ///
    /// Called before the save, so that after a crash in between both hashes are known.
    ///
    /// # Errors
    ///
    /// The save cannot be recorded. The ledger is then not saved.
    fn record_save(&self, from: Option<LedgerHash>, to: LedgerHash) -> Result<(), RepositoryError>;

    /// Records and reports that the ledger was restored. Returns the number of restores in the run.
    fn record_restore(&self, foreign: &ForeignLedger) -> u32;
}

/// Unexpected content in place of the ledger that the run saved last, and the location of its copy.
///
/// The run restores its own ledger before it reports this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ForeignLedger {
    /// Kind of the change.
    pub change: ForeignChange,
    /// Name of the file beside the ledger with a copy of the foreign content; `None` if there was
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_as: Option<String>,
}

impl ForeignLedger {
    /// Describes a change of the ledger whose content was not preserved.
    pub fn new(change: ForeignChange) -> Self {
        Self {
            change,
            saved_as: None,
        }
    }

    /// Sets the name under which the foreign content is preserved.
    #[must_use]
    pub fn saved_as(mut self, name: impl Into<String>) -> Self {
        self.saved_as = Some(name.into());
        self
    }
}

/// Change of the ledger by something other than the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ForeignChange {
    /// Its content was changed.
    Changed,
    /// It was removed.
    Removed,
    /// It was replaced by a symlink, a folder or something else that is not a file.
    Replaced,
    /// Its permissions were changed so that it cannot be read.
    Unreadable,
}

impl fmt::Display for ForeignLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let change = match self.change {
            ForeignChange::Changed => "changed the ledger",
            ForeignChange::Removed => "removed the ledger",
            ForeignChange::Replaced => "replaced the ledger with something that is not a file",
            ForeignChange::Unreadable => "made the ledger unreadable",
        };
        write!(f, "something other than the run {change}; it was restored")?;
        match &self.saved_as {
            Some(name) => write!(f, ", and the foreign content is kept as {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_names_the_change_and_the_copy() {
        let changed = ForeignLedger::new(ForeignChange::Changed).saved_as("status.foreign-1.json");
        let removed = ForeignLedger::new(ForeignChange::Removed);

        assert_eq!(
            changed.to_string(),
            "something other than the run changed the ledger; it was restored, and the foreign \
         content is kept as status.foreign-1.json"
        );
        assert_eq!(
            removed.to_string(),
            "something other than the run removed the ledger; it was restored"
        );
    }
}
