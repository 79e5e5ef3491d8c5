//! Content of the ledger that no tool of the run wrote.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run found in place of the ledger that it saved last, and where that is kept.
///
/// The run restored its own ledger before it reports this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ForeignLedger {
    /// What happened to the ledger.
    pub change: ForeignChange,
    /// The name under which the foreign content is kept beside the ledger; `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

impl ForeignLedger {
    /// Describes a change of the ledger whose content was not kept.
    pub fn new(change: ForeignChange) -> Self {
        Self { change, kept: None }
    }

    /// Sets the name under which the foreign content is kept.
    #[must_use]
    pub fn kept(mut self, name: impl Into<String>) -> Self {
        self.kept = Some(name.into());
        self
    }
}

/// What something other than the run did to the ledger.
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
            ForeignChange::Replaced => "replaced the ledger by something that is not a file",
            ForeignChange::Unreadable => "made the ledger unreadable",
        };
        write!(f, "something other than the run {change}; it was restored")?;
        match &self.kept {
            Some(name) => write!(f, ", and the foreign content is kept as {name}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_names_the_change_and_where_the_content_is_kept() {
        let changed = ForeignLedger::new(ForeignChange::Changed).kept("status.foreign-1.json");
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
