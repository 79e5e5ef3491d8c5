//! Whose a value is.

use crate::HarnessId;

/// Whose a value is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Everybody's.
    Global,
    /// That of one harness.
    Harness(HarnessId),
}

impl Scope {
    /// Returns it as it is kept: no two are the same.
    pub(super) fn key(&self) -> String {
        match self {
            Self::Global => "global".to_owned(),
            Self::Harness(id) => format!("harness:{id}"),
        }
    }
}
