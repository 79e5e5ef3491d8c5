//! What a scripted agent does in one session.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    AgentErrorKind, CostUsd, RateLimit, SessionOutcome, StreamEvent, Support, TokenUsage,
    ToldEvents,
};
use jiff::Timestamp;
use serde_json::Value;

use crate::model_use::ModelUse;
use crate::step::{Expectation, Step, ToolUse};

/// What a scripted agent does in one session, step by step.
///
/// Its name and the number of the step stand in every failure. The stream of a
/// script without an ending ends without an `End`.
///
/// ```
/// use autonoe_scripted::SessionScript;
/// use serde_json::json;
///
/// let script = SessionScript::new("builds the login")
///     .thinks("where to begin?")
///     .uses_tool("Write", json!({"file_path": "login.rs", "content": ""}))
///     .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
///     .says("done")
///     .ends();
/// ```
#[derive(Clone)]
pub struct SessionScript {
    pub(crate) name: String,
    pub(crate) steps: Vec<Step>,
    pub(crate) cost: Option<CostUsd>,
    pub(crate) disposal: Disposal,
}

/// What a scripted client does when it is disposed of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disposal {
    Works,
    Fails,
    Hangs,
    Panics,
}

impl SessionScript {
    /// Begins a script. Nothing it does costs anything unless it is said otherwise.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            steps: Vec::new(),
            cost: Some(CostUsd::ZERO),
            disposal: Disposal::Works,
        }
    }

    /// Says something.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.sends(StreamEvent::text(text))
    }

    /// Thinks aloud.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.sends(StreamEvent::thinking(text))
    }

    /// Warns of something.
    #[must_use]
    pub fn warns(self, message: impl Into<String>) -> Self {
        self.sends(StreamEvent::warning(message))
    }

    /// Reports tokens, and what they cost if that is known.
    #[must_use]
    pub fn uses_tokens(self, tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        self.sends(StreamEvent::usage(tokens, cost))
    }

    /// Asks a model, says its answer and reports what that took.
    #[must_use]
    pub fn asks_model(self, model: ModelUse) -> Self {
        self.step(Step::Model(model))
    }

    /// Shows people what goes on, for a while in tokio's time.
    #[must_use]
    pub fn shows(self, message: impl Into<String>, duration: Duration) -> Self {
        self.step(Step::Shows(message.into(), duration))
    }

    /// Reports how much of the quota is left.
    #[must_use]
    pub fn is_rate_limited(self, limit: RateLimit) -> Self {
        self.sends(StreamEvent::rate_limit(limit))
    }

    /// Sends any event, also one that does not belong there.
    #[must_use]
    pub fn sends(self, event: StreamEvent) -> Self {
        self.step(Step::Event(event))
    }

    /// Calls a tool that is expected to run and succeed.
    #[must_use]
    pub fn uses_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.calls(ToolUse::new(name, input))
    }

    /// Calls a tool that is expected to be denied by the guard or hook of the name `by`, for example
    /// `bash-security`, or by `grants`: no permission rule allows it.
    #[must_use]
    pub fn is_denied_by(
        self,
        by: impl Into<String>,
        name: impl Into<String>,
        input: Value,
    ) -> Self {
        let expected = Expectation::DeniedBy(by.into());
        self.calls(ToolUse::new(name, input).expecting(expected))
    }

    /// Calls a tool that is expected to run and fail.
    #[must_use]
    pub fn fails_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.calls(ToolUse::new(name, input).expecting(Expectation::Fails))
    }

    /// Calls a tool.
    #[must_use]
    pub fn calls(self, tool: ToolUse) -> Self {
        self.calls_at_once([tool])
    }

    /// Calls several tools at the same time.
    #[must_use]
    pub fn calls_at_once(self, tools: impl IntoIterator<Item = ToolUse>) -> Self {
        self.step(Step::Tools(tools.into_iter().collect()))
    }

    /// Does something for real: `effect` gets the directory of the session.
    #[must_use]
    pub fn does(self, effect: impl Fn(&Path) + Send + Sync + 'static) -> Self {
        self.step(Step::Does(Arc::new(effect)))
    }

    /// Writes a file in the directory of the session: asks the gate as `Write` does, and writes it
    /// for real if that allows it.
    #[must_use]
    pub fn writes(self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.step(Step::Writes(path.into(), text.into()))
    }

    /// Waits until there is a file, which may be relative to the directory of the session.
    #[must_use]
    pub fn waits_for_file(self, path: impl Into<PathBuf>) -> Self {
        self.step(Step::WaitsForFile(path.into()))
    }

    /// Waits in tokio's time.
    #[must_use]
    pub fn waits(self, duration: Duration) -> Self {
        self.step(Step::Waits(duration))
    }

    /// Checks that the prompt of the session contains `text`.
    #[must_use]
    pub fn expects_in_prompt(self, text: impl Into<String>) -> Self {
        self.step(Step::ExpectsInPrompt(text.into()))
    }

    /// Sets what the whole session costs; it is told at the end.
    #[must_use]
    pub fn costs(mut self, cost: CostUsd) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Does not tell what the session costs.
    #[must_use]
    pub fn costs_unknown(mut self) -> Self {
        self.cost = None;
        self
    }

    /// Ends as completed.
    #[must_use]
    pub fn ends(self) -> Self {
        self.ends_with(SessionOutcome::Completed)
    }

    /// Ends with `outcome`.
    #[must_use]
    pub fn ends_with(self, outcome: SessionOutcome) -> Self {
        self.step(Step::Ends(outcome))
    }

    /// Ends because the quota is spent, which comes back at `resets_at` if that is known.
    #[must_use]
    pub fn hits_quota(self, resets_at: Option<Timestamp>) -> Self {
        self.ends_with(quota_exceeded(resets_at))
    }

    /// Ends because the quota is spent, which comes back `time` after this step is played, by the
    /// system clock.
    #[must_use]
    pub fn hits_quota_for(self, time: Duration) -> Self {
        self.step(Step::HitsQuotaFor(time))
    }

    /// Ends the stream with an error.
    #[must_use]
    pub fn fails(self, kind: AgentErrorKind, message: impl Into<String>) -> Self {
        self.step(Step::Fails(kind, message.into()))
    }

    /// Says nothing any more, until the session is stopped.
    #[must_use]
    pub fn hangs(self) -> Self {
        self.step(Step::Hangs)
    }

    /// Panics inside the stream.
    #[must_use]
    pub fn panics(self) -> Self {
        self.step(Step::Panics)
    }

    /// Never finishes its disposal.
    #[must_use]
    pub fn dispose_hangs(mut self) -> Self {
        self.disposal = Disposal::Hangs;
        self
    }

    /// Fails when it is disposed of.
    #[must_use]
    pub fn dispose_fails(mut self) -> Self {
        self.disposal = Disposal::Fails;
        self
    }

    /// Panics when it is disposed of.
    #[must_use]
    pub fn dispose_panics(mut self) -> Self {
        self.disposal = Disposal::Panics;
        self
    }

    /// Adds what the script tells observers to what others do.
    pub(crate) fn told(&self, mut told: ToldEvents) -> ToldEvents {
        for step in &self.steps {
            match step {
                Step::Model(_) => {
                    told = told
                        .with_model_calls(Support::Yes)
                        .with_model_chunks(Support::Yes);
                }
                Step::Shows(..) => told = told.with_progress(Support::Yes),
                _ => {}
            }
        }
        told
    }

    /// Returns the script for a repetition of the session after a crash.
    ///
    /// The interrupted attempt may have done the work already, so calls that were expected to
    /// succeed may now fail. Calls that were expected to be denied must still be denied.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        for step in &mut self.steps {
            if let Step::Tools(uses) = step {
                let succeeded = uses
                    .iter_mut()
                    .filter(|tool| tool.expect == Expectation::Runs);
                succeeded.for_each(|tool| tool.expect = Expectation::Anything);
            }
        }
        self
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// Returns the end of a session whose quota is spent.
pub(crate) fn quota_exceeded(resets_at: Option<Timestamp>) -> SessionOutcome {
    let message = "You've hit your limit".to_owned();
    SessionOutcome::QuotaExceeded { message, resets_at }
}

impl std::fmt::Debug for SessionScript {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let steps: Vec<String> = self.steps.iter().map(ToString::to_string).collect();
        f.debug_struct("SessionScript")
            .field("name", &self.name)
            .field("steps", &steps)
            .finish()
    }
}
