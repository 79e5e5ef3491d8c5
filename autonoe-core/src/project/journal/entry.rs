//! One line of the file.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::domain::RunId;
use crate::run::JournalLine;

/// The version of the format; a reader refuses what it does not know.
pub(super) const VERSION: u32 = 1;

/// One line of a journal file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JournalEntry {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// The run.
    pub run: RunId,
    /// When it was written.
    pub at: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub line: JournalLine,
}

/// Tells whether `tail`, which stands behind the last line end, is what a kill or a power cut
/// leaves of a line of ours. Anything else is somebody's data.
pub(super) fn is_torn_line(tail: &[u8]) -> bool {
    const START: &[u8] = b"{\"v\":";
    let begins_like_one = tail.iter().zip(START).all(|(byte, own)| byte == own);
    begins_like_one || tail.iter().all(|byte| *byte == 0)
}
