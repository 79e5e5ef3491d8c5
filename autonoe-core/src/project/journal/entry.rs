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

/// Returns the run of a line as this version writes it, without reading the rest; `None` for any other line.
pub(super) fn run_of(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"v\":1,\"run\":\"")?;
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    match rest[end] {
        b'"' => std::str::from_utf8(&rest[..end]).ok(),
        // Escaped characters are left to the parser.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::run::JournalLine;

    use super::*;

    #[test]
    fn the_run_of_a_line_is_known_from_its_beginning() {
        for (run, is_known) in [("shop-1", true), ("é", true), ("a\"b", false), ("", true)] {
            let entry = JournalEntry {
                version: VERSION,
                run: RunId::new(run),
                at: Timestamp::UNIX_EPOCH,
                line: JournalLine::FlowResumed {
                    epoch: crate::domain::Epoch(1),
                },
            };
            let line = serde_json::to_vec(&entry).expect("it serialises");

            assert_eq!(run_of(&line), is_known.then_some(run), "{run:?}");
        }
        for line in ["", "{\"v\":2,\"run\":\"a\"}", "{\"v\":1,\"run\":\"a", "{ }"] {
            assert_eq!(run_of(line.as_bytes()), None, "{line}");
        }
    }
}
