//! Stand-in for Claude Code that replays recordings and fails on request.
//!
//! `fake-claude` talks to a host like the real program: it repeats the output of a recorded session
//! and waits where the host wrote something. It can also fail in ways that are rare in tests with
//! the real program: it dies in the middle of a line, stops responding, or never exits. It needs no
//! model, no network and no account.
//!
//! The entry point of the program is [`main`]. It plays the [`FakeScript`] in the file that the
//! environment variable [`SCRIPT`] names, because its arguments belong to the host under test.
//! [`play`] does the same as a function.
//!
//! ```
//! use autonoe_testkit::fake_claude::{FakeScript, Env, play};
//! use serde_json::{Value, json};
//!
//! let host = [
//!     json!({"type": "control_request", "request_id": "1", "request": {"subtype": "initialize"}}),
//!     json!({"type": "user", "message": {"role": "user", "content": "Greet."}}),
//! ];
//! let host: String = host.iter().map(|line| format!("{line}\n")).collect();
//! let mut written = Vec::new();
//! let code = play(
//!     &FakeScript::says(["Hello."]),
//!     Env::new([], "/"),
//!     std::io::Cursor::new(host),
//!     &mut written,
//!     &mut Vec::new(),
//! );
//!
//! assert_eq!(code, 0);
//! let last: Value = serde_json::from_str(String::from_utf8(written)?.lines().last().unwrap())?;
//! assert_eq!((&last["type"], &last["result"]), (&json!("result"), &json!("Hello.")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arguments;
mod fault_injection;
mod host;
mod program;
mod recording;
mod replay;
mod responses;
mod script;
mod streams;

use serde::{Deserialize, Serialize};

pub use program::{Env, LOG, SCRIPT, main, play};
pub use script::{FakeScript, FaultTrigger, PlayedContent, ProgramFault, Start, TurnFault};
pub use streams::ReceivedSignal;

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
    fn recorded(self) -> &'static str {
        match self {
            Self::V2_1_197 => include_str!("recorded/2.1.197.json"),
            Self::V2_1_325 => include_str!("recorded/2.1.325.json"),
        }
    }
}
