//! What the program plays.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Build, Fault, Mishap, Step, ToolUse, TurnEnd};

/// What the program plays, from its start to its end.
///
/// ```
/// use autonoe_testkit::fake_claude::{Build, FakeScript, FakeTurn, Fault, ToolUse, TurnEnd};
///
/// let script = FakeScript::new([
///     FakeTurn::new().says("I look.").uses(ToolUse::bash("ls")).says("Done."),
///     FakeTurn::new().says("And again.").ends(TurnEnd::max_turns()),
/// ])
/// .on(Build::V2_1_197)
/// .with_fault(Fault::NeverDies);
///
/// // The program reads it from a file.
/// let json = serde_json::to_string(&script)?;
/// assert_eq!(serde_json::from_str::<FakeScript>(&json)?, script);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// What a program plays, once it is started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Part {
    /// Turns, one after the other. A prompt for which there is none ends the program with an error.
    Turns(Vec<FakeTurn>),
    /// A recorded conversation.
    Recording(PathBuf),
}

/// A turn: what happens from a prompt to its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FakeTurn {
    /// The task whose end begins the turn. Others begin with a prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_task: Option<String>,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

impl FakeScript {
    /// Plays these turns.
    pub fn new(turns: impl IntoIterator<Item = FakeTurn>) -> Self {
        Self {
            build: Build::default(),
            plays: Part::Turns(turns.into_iter().collect()),
            faults: Vec::new(),
        }
    }

    /// Says something to the first prompt, and is done.
    pub fn says(text: impl Into<String>) -> Self {
        Self::new([FakeTurn::new().says(text)])
    }

    /// Plays the program's part of a recorded conversation.
    ///
    /// What the program said then is sent again, with ids and with what it tells about
    /// itself made to fit the host of today; where the host had said something, it is
    /// waited for. What the host of today asks and that of then did not is answered too.
    pub fn replay(recording: impl Into<PathBuf>) -> Self {
        Self {
            plays: Part::Recording(recording.into()),
            ..Self::new([])
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

    /// Reads a script from a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no script.
    pub fn load(path: impl AsRef<Path>) -> io::Result<Self> {
        Ok(serde_json::from_slice(&fs::read(path)?)?)
    }
}

impl FakeTurn {
    /// Makes a turn without steps, which begins with a prompt.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a turn that the program begins by itself, because the task is over.
    pub fn after_task(task: impl Into<String>) -> Self {
        Self {
            after_task: Some(task.into()),
            ..Self::default()
        }
    }

    /// Adds a step.
    #[must_use]
    pub fn then(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// The agent says something.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.then(Step::Says(text.into()))
    }

    /// The agent thinks.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.then(Step::Thinks(text.into()))
    }

    /// The agent calls a tool.
    #[must_use]
    pub fn uses(self, tool: ToolUse) -> Self {
        self.then(Step::Uses(vec![tool]))
    }

    /// The agent calls tools in one message.
    #[must_use]
    pub fn uses_together(self, tools: impl IntoIterator<Item = ToolUse>) -> Self {
        self.then(Step::Uses(tools.into_iter().collect()))
    }

    /// Sends a line as it is.
    #[must_use]
    pub fn sends(self, line: Value) -> Self {
        self.then(Step::Sends(line))
    }

    /// Something goes wrong.
    #[must_use]
    pub fn breaks(self, what: Mishap) -> Self {
        self.then(Step::Breaks(what))
    }

    /// Nothing happens any more until the turn is interrupted.
    #[must_use]
    pub fn hangs(self) -> Self {
        self.then(Step::Hangs)
    }

    /// The turn ends otherwise than as completed.
    #[must_use]
    pub fn ends(self, end: TurnEnd) -> Self {
        self.then(Step::Ends(end))
    }

    /// The five-hour limit of the subscription is spent, until `resets_at` (seconds since 1970).
    #[must_use]
    pub fn hits_quota(self, resets_at: i64) -> Self {
        self.then(Step::RateLimit {
            status: "rejected".to_owned(),
            resets_at: Some(resets_at),
            claim: Some("five_hour".to_owned()),
        })
        .ends(TurnEnd {
            // In the words of the build.
            text: None,
            ..TurnEnd::api_failure("rate_limit", 429, "")
        })
    }
}
