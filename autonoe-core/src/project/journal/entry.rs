//! [`JournalEntry`], one line of a journal file.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::LogEntry;
use crate::run::JournalLine;
use crate::time::RunId;

/// The version of the format; a reader refuses other versions.
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
    /// The time of the entry.
    pub at: Timestamp,
    /// The recorded fact.
    #[serde(flatten)]
    pub line: JournalLine,
}

impl LogEntry for JournalEntry {
    const STARTS: &'static [&'static [u8]] = &[b"{\"v\":"];
    const VERSION: u32 = VERSION;

    fn version(&self) -> u32 {
        self.version
    }
}

/// Returns the run of a line in the format of this version, without parsing the rest; `None` for
/// any other line.
pub(super) fn parse_run(line: &[u8]) -> Option<&str> {
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
                    epoch: crate::time::Epoch(1),
                },
            };
            let line = serde_json::to_vec(&entry).expect("it serialises");

            assert_eq!(parse_run(&line), is_known.then_some(run), "{run:?}");
        }
        for line in ["", "{\"v\":2,\"run\":\"a\"}", "{\"v\":1,\"run\":\"a", "{ }"] {
            assert_eq!(parse_run(line.as_bytes()), None, "{line}");
        }
    }
}
