//! [`ScriptStep`]s of a script: tool calls with their expected outcomes, and calls of a model.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{
    AgentErrorKind, ModelAnswer, ModelCallRequest, ModelMessages, ModelPart, SessionOutcome,
    TokenUsage,
};
use autonoe_core::event::{Events, Failure};
use autonoe_core::gate::GateDecision;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{CostUsd, StreamEvent};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One step of a script.
#[derive(Clone)]
pub(crate) enum ScriptStep {
    /// Sends an event.
    Event(StreamEvent),
    /// Ends the session, at the cost of the script.
    Ends(SessionOutcome),
    /// Ends the session with an exceeded quota, which resets after this time.
    HitsQuotaFor(Duration),
    /// Calls a model and sends its answer.
    Model(ModelUse),
    /// Shows a progress message for a time.
    Shows(String, Duration),
    /// Calls tools concurrently.
    Tools(Vec<ToolUse>),
    /// Performs a real side effect in the directory of the session.
    Performs(Effect),
    /// Writes a file in the directory of the session, if the gate allows it.
    Writes(PathBuf, String),
    Waits(Duration),
    /// Waits until a file exists.
    WaitsForFile(PathBuf),
    /// Sends nothing any more, until the session is stopped.
    Hangs,
    /// Ends the stream with an error.
    Fails(AgentErrorKind, String),
    /// Panics when the stream is polled.
    Panics,
    /// Checks that the prompt contains a text.
    ExpectsInPrompt(String),
}

/// A real side effect of a script.
pub(crate) type Effect = Arc<dyn Fn(&Path) + Send + Sync>;

impl fmt::Display for ScriptStep {
    /// Formats the step for failures.
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
            Self::Performs(_) => f.write_str("does something"),
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

/// A tool call of a script, with its expected outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolUse {
    /// The tool, for example `Bash` or `mcp__autonoe__list`.
    pub name: String,
    /// The input.
    pub input: Value,
    /// The expected outcome.
    #[serde(default)]
    pub expect: Expectation,
    /// The answer of a tool that is not ours.
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

    /// Sets the expected outcome.
    #[must_use]
    pub fn expecting(mut self, expect: Expectation) -> Self {
        self.expect = expect;
        self
    }

    /// Sets the answer of a tool that is not ours.
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

/// The expected outcome of a tool call.
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
    /// Any outcome is accepted.
    Anything,
}

impl Expectation {
    /// Returns whether the `decision` of the gate and the `status` of the call meet the
    /// expectation.
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

/// A call of a model in a script. Observers receive it, and the agent sends the answer.
///
/// ```
/// use autonoe_core::agent::TokenUsage;
/// use autonoe_core::CostUsd;
/// use autonoe_scripted::{ModelUse, SessionScript};
///
/// let used = TokenUsage { input: 10, output: 5, ..TokenUsage::default() };
/// let script = SessionScript::new("talks")
///     .calls_model(ModelUse::new("a-model", "Hello.").using(used, Some(CostUsd::from_cents(1))))
///     .ends();
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelUse {
    /// The model.
    pub model: String,
    /// The provider of the model.
    pub provider: String,
    /// The number of messages in the request.
    pub messages: usize,
    /// The answer, or the error.
    pub answer: Result<String, Failure>,
    /// The token usage of the call.
    pub tokens: TokenUsage,
    /// The cost of the call, if it is known.
    pub cost: Option<CostUsd>,
}

impl ModelUse {
    /// Creates a call of `model` with one message, which costs nothing.
    pub fn new(model: impl Into<String>, answer: impl Into<String>) -> Self {
        Self {
            model: model.into(),
            provider: "scripted".to_owned(),
            messages: 1,
            answer: Ok(answer.into()),
            tokens: TokenUsage::default(),
            cost: Some(CostUsd::ZERO),
        }
    }

    /// Sets the number of messages in the request.
    #[must_use]
    pub fn with_messages(mut self, count: usize) -> Self {
        self.messages = count;
        self
    }

    /// Sets the usage and the cost of the call.
    #[must_use]
    pub fn using(mut self, tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        self.tokens = tokens;
        self.cost = cost;
        self
    }

    /// Makes the call fail.
    #[must_use]
    pub fn failing(mut self, error: Failure) -> Self {
        self.answer = Err(error);
        self
    }

    /// Emits the call to observers, with the answer word by word.
    pub(crate) fn emit(&self, events: &Events) {
        let part = json!({"type": "text", "content": "a scripted message"});
        let message = json!({"role": "user", "parts": [part]});
        let messages = || json!(vec![message.clone(); self.messages]);
        let messages = ModelMessages::new(self.messages, &messages);
        let request = ModelCallRequest::new(&self.model, messages).with_provider(&self.provider);
        let call = events.model_call(&request);
        match &self.answer {
            Ok(answer) => {
                for word in answer.split_inclusive(' ') {
                    call.chunk(ModelPart::Text, word);
                }
                let ended = ModelAnswer::new(answer, self.tokens).with_cost(self.cost);
                call.ended(&ended.with_model(&self.model).with_stop_reason("end_turn"));
            }
            Err(error) => call.failed(error, self.tokens),
        }
    }
}

impl fmt::Display for ModelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "asks {}", self.model)
    }
}
