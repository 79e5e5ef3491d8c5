//! Recorded output lines of the real program, used as templates.

use std::collections::HashMap;
use std::io;

use serde::Deserialize;
use serde_json::Value;

use super::Build;

/// The recorded lines of a build that are needed in addition to a recording.
///
/// The files in `recorded/` name the session of each line.
#[derive(Debug)]
pub(super) struct Lines(HashMap<Kind, Recorded>);

#[derive(Debug, Deserialize)]
struct Recorded {
    line: Value,
}

/// The kind of a recorded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The response to `initialize`.
    Initialize,
    /// The response to `get_settings`.
    Settings,
    /// The response to `mcp_status`.
    McpStatus,
    /// The response to an unknown request.
    Unsupported,
    /// The response to `end_session`.
    EndSession,
    /// The start of a turn.
    Init,
    /// A text of the agent.
    Text,
    /// `initialize` for an MCP server.
    McpInitialize,
    /// The notification `initialized` for an MCP server.
    McpInitialized,
    /// `tools/list` for an MCP server.
    McpList,
    /// The end of a completed turn.
    Result,
}

impl Lines {
    /// Reads the lines of `build`.
    ///
    /// # Errors
    ///
    /// If the file in this crate is malformed, which a test rules out.
    pub(super) fn load(build: Build) -> io::Result<Self> {
        Ok(Self(serde_json::from_str(build.recorded())?))
    }

    /// Returns the line of this kind.
    pub(super) fn get(&self, kind: Kind) -> Value {
        self.0
            .get(&kind)
            .map(|recorded| recorded.line.clone())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_has_every_line() {
        for build in Build::ALL {
            let lines = Lines::load(build).expect("readable");

            // `Result` is the last kind.
            assert_eq!(lines.0.len(), Kind::Result as usize + 1, "{build:?}");
        }
    }
}
