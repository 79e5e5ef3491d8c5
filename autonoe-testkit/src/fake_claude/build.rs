//! Builds of Claude Code that can be played.

use serde::{Deserialize, Serialize};

/// A build of Claude Code: its message formats and its specific behaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Build {
    /// 2.1.197. It initializes our MCP server after the first prompt, and continues without a
    /// failing hook.
    #[serde(rename = "2.1.197")]
    V2_1_197,
    /// 2.1.325. It initializes our MCP server at the start, reports the live tasks, and treats a
    /// failing hook as a block.
    #[default]
    #[serde(rename = "2.1.325")]
    V2_1_325,
}

impl Build {
    /// All builds that can be played, from the oldest to the newest.
    pub const ALL: [Self; 2] = [Self::V2_1_197, Self::V2_1_325];

    /// Returns the version.
    pub fn version(self) -> &'static str {
        match self {
            Self::V2_1_197 => "2.1.197",
            Self::V2_1_325 => "2.1.325",
        }
    }

    /// Returns the recorded lines of the build, as they are on disk.
    pub(super) fn recorded(self) -> &'static str {
        match self {
            Self::V2_1_197 => include_str!("recorded/2.1.197.json"),
            Self::V2_1_325 => include_str!("recorded/2.1.325.json"),
        }
    }
}
