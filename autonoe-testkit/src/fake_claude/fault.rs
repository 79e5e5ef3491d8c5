//! What goes wrong with a program.

use serde::{Deserialize, Serialize};

/// What goes wrong with a program as long as it runs. Any number go with any script.
///
/// ```
/// use autonoe_testkit::fake_claude::{FakeScript, Fault, Mishap};
///
/// let script = FakeScript::says("Hello.")
///     .with_fault(Fault::Slow { chunk: 16, pause_ms: 1 })
///     .with_fault(Fault::NeverDies)
///     .with_fault(Fault::Then { after_lines: 3, what: Mishap::Silence });
///
/// assert_eq!(script.faults.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// Every line comes in chunks, with a pause after each.
    Slow {
        /// The bytes of a chunk.
        chunk: usize,
        /// The pause, in milliseconds.
        pause_ms: u64,
    },
    /// It dies before it has said anything.
    DiesAtStart {
        /// Its exit code.
        code: u8,
        /// What it says on its standard error.
        stderr: String,
        /// When it does.
        when: Start,
    },
    /// It says that it cannot start, in the place of its first answer, and ends: as with a sandbox
    /// that is required and not there.
    CannotStart {
        /// Why it cannot.
        error: String,
    },
    /// It takes no notice of the end of its input, of `end_session`, `SIGINT`, `SIGTERM` and
    /// `SIGHUP`. Only `SIGKILL` ends it.
    NeverDies,
    /// It did not get what was asked for, and says so if it is asked.
    IsNotAsAsked(Deviation),
    /// It greets our MCP servers twice at the same time, with the same ids, as 2.1.197 does
    /// with servers that are named in its arguments.
    GreetsTwice,
    /// Something happens once, at one place.
    Then {
        /// How many lines it has written before.
        after_lines: usize,
        /// What happens.
        what: Mishap,
    },
}

/// When a program dies that does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Before it reads anything.
    AtOnce,
    /// When it is told to initialize, in the place of its answer.
    AtInitialize,
    /// After the answer to that.
    AfterInitialize,
}

/// In what a program differs from what was asked of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Deviation {
    /// It dropped all settings, as 2.1.197 does when one field of them is wrong.
    NoSettings,
    /// It is in this permission mode.
    PermissionMode(String),
    /// It has this tool, too.
    OneMoreTool(String),
    /// It lacks this tool.
    OneToolLess(String),
    /// Our MCP servers are in this state, for example `failed`.
    Servers(String),
    /// It knows nothing of our MCP servers.
    NoServers,
}

/// Something that goes wrong at one place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mishap {
    /// It writes these bytes, which are no message, and the end of a line.
    Garbage(Vec<u8>),
    /// It sends messages, and blocks in messages, of types that nobody knows.
    UnknownMessages,
    /// It asks the host something that nobody knows, and waits for the answer.
    UnknownRequest,
    /// It dies in the middle of its next line.
    CutLine {
        /// Its exit code.
        code: u8,
    },
    /// It dies.
    Dies {
        /// Its exit code.
        code: u8,
        /// What it says on its standard error.
        stderr: String,
    },
    /// It says nothing and answers nothing any more, and lives.
    Silence,
    /// It sends one message of this many bytes, with the end of the line.
    LongLine {
        /// How many.
        bytes: usize,
    },
    /// It says the same short text over and over.
    Flood {
        /// How often.
        lines: usize,
    },
    /// It writes this much to its standard error.
    StderrFlood {
        /// How many bytes.
        bytes: usize,
    },
}
