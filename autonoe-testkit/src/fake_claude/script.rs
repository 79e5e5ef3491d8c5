//! What the program plays, and how it fails.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::Build;

/// What the program plays, from its start to its end.
///
/// ```
/// use autonoe_testkit::fake_claude::{Build, FakeScript, Fault, Mishap, Moment};
///
/// let script = FakeScript::says(["I look.", "Done."])
///     .on(Build::V2_1_197)
///     .with_fault(Fault::NeverDies)
///     .with_fault(Fault::At { moment: Moment::Texts(1), mishap: Mishap::Silence });
///
/// // The program reads it from a file.
/// let json = serde_json::to_string(&script)?;
/// assert_eq!(serde_json::from_str::<FakeScript>(&json)?, script);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FakeScript {
    /// Which build it plays.
    #[serde(default)]
    pub build: Build,
    /// What it plays.
    pub plays: Part,
    /// What goes wrong.
    #[serde(default)]
    pub faults: Vec<Fault>,
}

/// What a program plays once it is started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// The agent answers the first prompt with these texts.
    Says(Vec<String>),
    /// A recorded session.
    Recording(PathBuf),
}

impl FakeScript {
    /// Answers the first prompt with these texts.
    ///
    /// Another prompt ends the program with an error.
    pub fn says(texts: impl IntoIterator<Item: Into<String>>) -> Self {
        Self::of(Part::Says(texts.into_iter().map(Into::into).collect()))
    }

    /// Repeats what the program wrote in a recorded session.
    ///
    /// Ids and what the program says about its start are adapted to the host under test. Where
    /// the recorded host wrote something, the program waits for it. Requests that only the host
    /// under test sends are answered too.
    pub fn replay(recording: impl Into<PathBuf>) -> Self {
        Self::of(Part::Recording(recording.into()))
    }

    fn of(plays: Part) -> Self {
        Self {
            build: Build::default(),
            plays,
            faults: Vec::new(),
        }
    }

    /// Plays `build`.
    #[must_use]
    pub fn on(mut self, build: Build) -> Self {
        self.build = build;
        self
    }

    /// Adds something that goes wrong.
    #[must_use]
    pub fn with_fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Writes the script to a file, from which the program reads it.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        fs::write(path, serde_json::to_vec_pretty(self)?)
    }

    /// Reads a script from a file. A relative path of a recording is relative to that file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no script.
    pub fn load(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let mut script: Self = serde_json::from_slice(&fs::read(path)?)?;
        if let (Part::Recording(recording), Some(folder)) = (&mut script.plays, path.parent()) {
            *recording = folder.join(&recording);
        }
        Ok(script)
    }
}

/// What goes wrong with a program. A script can have any number of faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// It dies before it works on a prompt.
    DiesAtStart {
        /// Its exit code.
        code: u8,
        /// What it writes to its standard error.
        stderr: String,
        /// When it dies.
        when: Start,
    },
    /// It ignores the end of its input, `end_session`, `SIGINT`, `SIGTERM` and `SIGHUP`. Only
    /// `SIGKILL` ends it.
    NeverDies,
    /// It did not start as it was asked to, and says so when it is asked.
    IsNotAsAsked(Deviation),
    /// Something happens at one moment. Mishaps of the same moment happen in their order.
    At {
        /// When it happens.
        moment: Moment,
        /// What happens.
        mishap: Mishap,
    },
}

/// A moment in the life of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Moment {
    /// After it has written this many lines.
    Lines(usize),
    /// After the agent has said this many texts.
    Texts(usize),
}

/// When a program dies that does not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Before it reads anything.
    AtOnce,
    /// Instead of answering `initialize`.
    AtInitialize,
    /// After its answer to `initialize`.
    AfterInitialize,
}

/// How a program differs from what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// The MCP servers of the host are in this state, for example `failed`.
    Servers(String),
    /// It does not know the MCP servers of the host.
    NoServers,
}

/// Something that goes wrong at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mishap {
    /// It writes these bytes, which are no message, and ends the line.
    Garbage(Vec<u8>),
    /// It sends messages, and blocks in messages, of unknown types.
    UnknownMessages,
    /// It sends an unknown request to the host, and waits for the answer.
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
        /// What it writes to its standard error.
        stderr: String,
    },
    /// It writes and answers nothing any more, and lives.
    Silence,
    /// It sends one message of this many bytes, with the end of the line.
    LongLine {
        /// How many bytes.
        bytes: usize,
    },
    /// It says the same short text again and again.
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
