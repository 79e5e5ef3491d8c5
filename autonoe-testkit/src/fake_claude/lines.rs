//! Lines as the real program wrote them, each the pattern of others.

use std::collections::HashMap;
use std::io;

use serde::Deserialize;
use serde_json::Value;

use super::Build;

/// The recorded lines of a build that are needed beside a recording.
///
/// The files in `recorded/` name the session of each line.
#[derive(Debug)]
pub(super) struct Lines(HashMap<Kind, Recorded>);

#[derive(Debug, Deserialize)]
struct Recorded {
    line: Value,
}

/// What a recorded line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The answer to `initialize`.
    Initialize,
    /// The answer to `get_settings`.
    Settings,
    /// The answer to `mcp_status`.
    McpStatus,
    /// The answer to an unknown request.
    Unsupported,
    /// The answer to `end_session`.
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
    /// The end of a turn that is completed.
    Result,
}

impl Lines {
    /// Reads the lines of `build`.
    ///
    /// # Errors
    ///
    /// The file in this crate is broken, which a test rules out.
    pub(super) fn of(build: Build) -> io::Result<Self> {
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
            let lines = Lines::of(build).expect("readable");

            // `Result` is the last kind.
            assert_eq!(lines.0.len(), Kind::Result as usize + 1, "{build:?}");
        }
    }
}
