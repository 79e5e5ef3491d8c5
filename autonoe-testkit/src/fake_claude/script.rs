//! [`FakeScript`], the script of the fake program: its build, its content and its faults.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use super::Build;

/// Script of the program, from its start to its end.
///
/// ```
/// use autonoe_testkit::fake_claude::{Build, FakeScript, ProgramFault, TurnFault, FaultTrigger};
///
/// let script = FakeScript::says(["I look.", "Done."])
///     .build(Build::V2_1_197)
///     .with_fault(ProgramFault::IgnoresShutdown)
///     .with_fault(ProgramFault::At { trigger: FaultTrigger::Texts(1), turn_fault: TurnFault::Silence });
///
/// // The program reads it from a file.
/// let json = serde_json::to_string(&script)?;
/// assert_eq!(serde_json::from_str::<FakeScript>(&json)?, script);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FakeScript {
    /// The build that is played.
    #[serde(default)]
    pub build: Build,
    /// The content of the session.
    pub plays: PlayedContent,
    /// The injected faults.
    #[serde(default)]
    pub faults: Vec<ProgramFault>,
}

/// The content that a program plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlayedContent {
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
        Self::playing(PlayedContent::Says(
            texts.into_iter().map(Into::into).collect(),
        ))
    }

    /// Repeats the output of a recorded session.
    ///
    /// Ids and the program's start messages are adapted to the host under test. Where the recorded
    /// host sent something, the program waits for it. Requests that only the host under test sends
    /// are answered as well.
    pub fn replay(recording: impl Into<PathBuf>) -> Self {
        Self::playing(PlayedContent::Recording(recording.into()))
    }

    fn playing(plays: PlayedContent) -> Self {
        Self {
            build: Build::default(),
            plays,
            faults: Vec::new(),
        }
    }

    /// Plays `build`.
    #[must_use]
    pub fn build(mut self, build: Build) -> Self {
        self.build = build;
        self
    }

    /// Adds a fault.
    #[must_use]
    pub fn with_fault(mut self, fault: ProgramFault) -> Self {
        self.faults.push(fault);
        self
    }

    /// Writes the script to a file, from which the program reads it.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> io::Result<()> {
        fs::write(path, serde_json::to_vec_pretty(self)?)
    }

    /// Reads a script from a file. A relative path of a recording is relative to that file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a script.
    pub fn load(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let mut script: Self = serde_json::from_slice(&fs::read(path)?)?;
        if let (PlayedContent::Recording(recording), Some(folder)) =
            (&mut script.plays, path.parent())
        {
            *recording = folder.join(&recording);
        }
        Ok(script)
    }
}

/// A fault of a program. A script can have any number of faults.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProgramFault {
    /// Every line is written in chunks, with a pause after each.
    Slow {
        /// The chunk size in bytes.
        chunk: usize,
        /// The pause, in milliseconds.
        pause_ms: u64,
    },
    /// The program exits before it works on a prompt.
    DiesAtStart {
        /// The exit code.
        code: u8,
        /// The text on standard error.
        stderr: String,
        /// The moment of the exit.
        when: Start,
    },
    /// The program ignores the end of its input, `end_session`, `SIGINT`, `SIGTERM` and `SIGHUP`.
    /// Only `SIGKILL` ends it.
    IgnoresShutdown,
    /// A fault at one moment. Faults at the same moment happen in order.
    At {
        /// The moment.
        trigger: FaultTrigger,
        /// The fault.
        turn_fault: TurnFault,
    },
}

/// A moment in the lifetime of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultTrigger {
    /// After this many written lines.
    Lines(usize),
    /// After this many texts of the agent.
    Texts(usize),
}

/// The moment at which a failing start exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Before it reads anything.
    AtOnce,
    /// Instead of answering `initialize`.
    AtInitialize,
    /// After the answer to `initialize`.
    AfterInitialize,
}

/// A fault at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TurnFault {
    /// Writes these bytes, and ends the line.
    Garbage(Vec<u8>),
    /// Sends an unknown request to the host, and waits for the answer.
    UnknownRequest,
    /// Crashes in the middle of its next line.
    CutLine {
        /// The exit code.
        code: u8,
    },
    /// Crashes.
    Dies {
        /// The exit code.
        code: u8,
        /// The text on standard error.
        stderr: String,
    },
    /// Stops writing and answering, but keeps running.
    Silence,
    /// Sends one message of this many bytes, including the line ending.
    LongLine {
        /// The number of bytes.
        bytes: usize,
    },
    /// Sends the same short text repeatedly.
    Flood {
        /// The number of repetitions.
        lines: usize,
    },
    /// Writes this much to standard error.
    StderrFlood {
        /// The number of bytes.
        bytes: usize,
    },
}
