//! The lines after the first.

use serde::{Deserialize, Serialize};

/// A line of who asks. What is not understood in it is refused: nobody does half of what they were
/// asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Asked<T> {
    /// What it is about. A number that was used is not used again.
    pub(super) id: u64,
    pub(super) ask: T,
}

/// A line of who answers. What else stands in it is for those who understand it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Told<T> {
    /// The question that this answers.
    pub(super) id: u64,
    pub(super) tell: T,
}
