//! What a scripted agent does, step by step.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{AgentErrorKind, GateDecision, SessionOutcome, StreamEvent, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model_use::ModelUse;

/// One step of a script.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends an event.
    Event(StreamEvent),
    /// Ends the session, at the cost of the script.
    Ends(SessionOutcome),
    /// Ends the session because the quota is spent, which comes back after this time.
    HitsQuotaFor(Duration),
    /// Asks a model and says its answer.
    Model(ModelUse),
    /// Shows what goes on, for a while.
    Shows(String, Duration),
    /// Calls tools, all at once.
    Tools(Vec<ToolUse>),
    /// Does something for real, in the directory of the session.
    Does(Effect),
    /// Writes a file of the directory of the session, if the gate allows it.
    Writes(PathBuf, String),
    Waits(Duration),
    /// Waits until there is a file.
    WaitsForFile(PathBuf),
    /// Says nothing any more, until the session is stopped.
    Hangs,
    /// Ends the stream with an error.
    Fails(AgentErrorKind, String),
    /// Panics where the stream is polled.
    Panics,
    /// Checks that the prompt contains a text.
    ExpectsInPrompt(String),
}

/// Something that a script does for real.
pub(crate) type Effect = Arc<dyn Fn(&Path) + Send + Sync>;

impl fmt::Display for Step {
    /// Names the step in failures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(StreamEvent::Text { text, .. }) => write!(f, "says {text:?}"),
            Self::Event(StreamEvent::Thinking { text, .. }) => write!(f, "thinks {text:?}"),
            Self::Ends(outcome) => write!(f, "ends with {outcome:?}"),
            Self::HitsQuotaFor(time) => write!(f, "hits its quota for {time:?}"),
            Self::Event(event) => write!(f, "sends {event:?}"),
            Self::Tools(uses) => {
                let names: Vec<String> = uses.iter().map(ToString::to_string).collect();
                write!(f, "calls {}", names.join(" and "))
            }
            Self::Model(model) => model.fmt(f),
            Self::Shows(message, duration) => write!(f, "shows {message:?} for {duration:?}"),
            Self::Does(_) => f.write_str("does something"),
            Self::Writes(path, _) => write!(f, "writes {path:?}"),
            Self::Waits(duration) => write!(f, "waits {duration:?}"),
            Self::WaitsForFile(path) => write!(f, "waits for {path:?}"),
            Self::Hangs => f.write_str("hangs"),
            Self::Fails(kind, message) => write!(f, "fails with {}: {message}", kind.code()),
            Self::Panics => f.write_str("panics"),
            Self::ExpectsInPrompt(text) => write!(f, "expects {text:?} in the prompt"),
        }
    }
}

/// A tool call of a script, with what is expected of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolUse {
    /// The tool, for example `Bash` or `mcp__autonoe__list`.
    pub name: String,
    /// What it is called with.
    pub input: Value,
    /// What is expected to come of it.
    #[serde(default)]
    pub expect: Expectation,
    /// What a tool that is not ours answers.
    #[serde(default = "done")]
    pub answer: String,
}

fn done() -> String {
    "done".to_owned()
}

impl ToolUse {
    /// Calls `name` with `input` and expects that it runs and succeeds.
    pub fn new(name: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            input,
            expect: Expectation::Runs,
            answer: done(),
        }
    }

    /// Sets what is expected.
    #[must_use]
    pub fn expecting(mut self, expect: Expectation) -> Self {
        self.expect = expect;
        self
    }

    /// Sets what a tool that is not ours answers.
    #[must_use]
    pub fn answering(mut self, answer: impl Into<String>) -> Self {
        self.answer = answer.into();
        self
    }
}

impl fmt::Display for ToolUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.input)
    }
}

/// What a script expects to come of a tool call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expectation {
    /// It runs and succeeds.
    #[default]
    Runs,
    /// It is denied, by any guard, hook or grant.
    Denied,
    /// It is denied by the guard or hook of this name, or by `grants`.
    DeniedBy(String),
    /// It runs and fails.
    Fails,
    /// Whatever comes is right.
    Anything,
}

impl Expectation {
    /// Returns whether `decision` of the gate and the `status` of the call are what is expected.
    pub(crate) fn is_met(&self, decision: &GateDecision, status: ToolStatus) -> bool {
        match self {
            Self::Runs => status == ToolStatus::Ok,
            Self::Denied => status == ToolStatus::Denied,
            Self::DeniedBy(name) => {
                matches!(decision, GateDecision::Deny { by, .. } if by == name)
            }
            Self::Fails => status == ToolStatus::Error,
            Self::Anything => true,
        }
    }
}
