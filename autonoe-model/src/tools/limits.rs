//! How much the tools take and give.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How much the built-in tools take and give.
///
/// What goes beyond is cut with a note that says so, or refused. In a file, times are in
/// milliseconds: `{"commandTimeMs": 300000}`.
///
/// ```
/// use autonoe_model::ToolLimits;
///
/// let limits = ToolLimits { output_bytes: 8_000, ..ToolLimits::default() };
///
/// assert_eq!(limits.read_lines, 2_000);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ToolLimits {
    /// How many bytes Bash, Glob and Grep give back at most.
    pub output_bytes: usize,
    /// How many bytes Read gives back at most.
    pub read_bytes: usize,
    /// How many lines Read gives back if it is not told.
    pub read_lines: u64,
    /// How many bytes of a line Read and Grep show.
    pub line_bytes: usize,
    /// How large an image may be that Read attaches.
    pub image_bytes: u64,
    /// How large a file may be that Edit changes or Write writes.
    pub file_bytes: u64,
    /// How many files Glob and Grep list, and how many lines Grep gives if it is not told.
    pub results: usize,
    /// How many files and directories a search looks at.
    pub entries: usize,
    /// How long a search takes at most, or the way to the lines that Read is to give back.
    #[serde(rename = "searchTimeMs", with = "milliseconds")]
    #[schemars(with = "u64", range(min = 1))]
    pub search_time: Duration,
    /// How long a command takes if it does not say.
    #[serde(rename = "commandTimeMs", with = "milliseconds")]
    #[schemars(with = "u64", range(min = 1))]
    pub command_time: Duration,
    /// How long a command may ask for.
    #[serde(rename = "longestCommandTimeMs", with = "milliseconds")]
    #[schemars(with = "u64", range(min = 1))]
    pub longest_command_time: Duration,
}

impl Default for ToolLimits {
    fn default() -> Self {
        Self {
            output_bytes: 30_000,
            read_bytes: 100_000,
            read_lines: 2_000,
            line_bytes: 2_000,
            image_bytes: 5 * 1024 * 1024,
            file_bytes: 16 * 1024 * 1024,
            results: 100,
            entries: 500_000,
            search_time: Duration::from_secs(30),
            command_time: Duration::from_secs(120),
            longest_command_time: Duration::from_secs(600),
        }
    }
}

impl ToolLimits {
    /// Tells whether there is any time at all for a search and a command.
    pub(crate) fn leave_time(&self) -> bool {
        let times = [
            self.search_time,
            self.command_time,
            self.longest_command_time,
        ];
        times.iter().all(|time| !time.is_zero()) && self.command_time <= self.longest_command_time
    }
}

/// Times as whole milliseconds.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        u64::deserialize(from).map(Duration::from_millis)
    }
}
