//! [`SessionScript`], the steps of a scripted agent in one session.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{
    AgentErrorKind, EventCapabilities, RateLimit, SessionOutcome, Support, TokenUsage,
};
use autonoe_core::{CostUsd, StreamEvent};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::step::{Expectation, ModelUse, ScriptStep, ToolUse};

/// The tool that creates deliverables.
const CREATE: &str = "mcp__autonoe__create";

/// The tool that changes the status of a deliverable.
const SET_STATUS: &str = "mcp__autonoe__set_status";

/// The steps of a scripted agent in one session.
///
/// Every failure names the script and the number of the step. The stream of a script without an
/// ending ends without an `End`.
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
    pub(crate) steps: Vec<ScriptStep>,
    pub(crate) cost: Option<CostUsd>,
    pub(crate) disposal: Disposal,
}

/// The behaviour of a scripted client on disposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Disposal {
    Works,
    Fails,
    Hangs,
    Panics,
}

impl SessionScript {
    /// Creates an empty script. It costs nothing by default.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            steps: Vec::new(),
            cost: Some(CostUsd::ZERO),
            disposal: Disposal::Works,
        }
    }

    /// Sends text.
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.sends(StreamEvent::text(text))
    }

    /// Sends a thought.
    #[must_use]
    pub fn thinks(self, text: impl Into<String>) -> Self {
        self.sends(StreamEvent::thinking(text))
    }

    /// Sends a warning.
    #[must_use]
    pub fn warns(self, message: impl Into<String>) -> Self {
        self.sends(StreamEvent::warning(message))
    }

    /// Reports tokens, and their cost if it is known.
    #[must_use]
    pub fn uses_tokens(self, tokens: TokenUsage, cost: Option<CostUsd>) -> Self {
        self.sends(StreamEvent::usage(tokens, cost))
    }

    /// Calls a model, sends its answer and reports the usage.
    #[must_use]
    pub fn calls_model(self, model: ModelUse) -> Self {
        self.step(ScriptStep::Model(model))
    }

    /// Shows a progress message for `duration`, in tokio's time.
    #[must_use]
    pub fn shows(self, message: impl Into<String>, duration: Duration) -> Self {
        self.step(ScriptStep::Shows(message.into(), duration))
    }

    /// Reports how much of the quota is left.
    #[must_use]
    pub fn is_rate_limited(self, limit: RateLimit) -> Self {
        self.sends(StreamEvent::rate_limit(limit))
    }

    /// Sends any event, including misplaced ones.
    #[must_use]
    pub fn sends(self, event: StreamEvent) -> Self {
        self.step(ScriptStep::Event(event))
    }

    /// Calls a tool that is expected to run and succeed.
    #[must_use]
    pub fn uses_tool(self, name: impl Into<String>, input: Value) -> Self {
        self.calls(ToolUse::new(name, input))
    }

    /// Creates deliverables, each with its id, description and acceptance criterion.
    #[must_use]
    pub fn plans<'a>(
        self,
        deliverables: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Self {
        let deliverables: Vec<Value> = deliverables
            .into_iter()
            .map(|(id, description, criterion)| {
                json!({"id": id, "description": description, "acceptanceCriteria": [criterion]})
            })
            .collect();
        self.uses_tool(CREATE, json!({ "deliverables": deliverables }))
    }

    /// Marks a deliverable as passed.
    #[must_use]
    pub fn passes(self, id: &str) -> Self {
        let input = json!({"deliverableId": id, "status": "passed"});
        self.uses_tool(SET_STATUS, input)
    }

    /// Marks a deliverable as blocked: it cannot be built without the user.
    #[must_use]
    pub fn blocks(self, id: &str) -> Self {
        let input = json!({"deliverableId": id, "status": "blocked"});
        self.uses_tool(SET_STATUS, input)
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
        self.step(ScriptStep::Tools(tools.into_iter().collect()))
    }

    /// Performs a real side effect: `effect` gets the directory of the session.
    #[must_use]
    pub fn performs(self, effect: impl Fn(&Path) + Send + Sync + 'static) -> Self {
        self.step(ScriptStep::Performs(Arc::new(effect)))
    }

    /// Writes a file in the directory of the session: requests permission as `Write`, and writes
    /// the file to disk if the gate allows it.
    #[must_use]
    pub fn writes(self, path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        self.step(ScriptStep::Writes(path.into(), text.into()))
    }

    /// Waits until a file exists. The path may be relative to the directory of the session.
    #[must_use]
    pub fn waits_for_file(self, path: impl Into<PathBuf>) -> Self {
        self.step(ScriptStep::WaitsForFile(path.into()))
    }

    /// Waits in tokio's time.
    #[must_use]
    pub fn waits(self, duration: Duration) -> Self {
        self.step(ScriptStep::Waits(duration))
    }

    /// Checks that the prompt of the session contains `text`.
    #[must_use]
    pub fn expects_in_prompt(self, text: impl Into<String>) -> Self {
        self.step(ScriptStep::ExpectsInPrompt(text.into()))
    }

    /// Sets the cost of the whole session, which is reported at the end.
    #[must_use]
    pub fn costs(mut self, cost: CostUsd) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Does not report the cost of the session.
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
        self.step(ScriptStep::Ends(outcome))
    }

    /// Ends with an exceeded quota, which resets at `resets_at` if that is known.
    #[must_use]
    pub fn hits_quota(self, resets_at: Option<Timestamp>) -> Self {
        self.ends_with(quota_exceeded(resets_at))
    }

    /// Ends with an exceeded quota, which resets `time` after this step is played, by the system
    /// clock.
    #[must_use]
    pub fn hits_quota_for(self, time: Duration) -> Self {
        self.step(ScriptStep::HitsQuotaFor(time))
    }

    /// Ends the stream with an error.
    #[must_use]
    pub fn fails(self, kind: AgentErrorKind, message: impl Into<String>) -> Self {
        self.step(ScriptStep::Fails(kind, message.into()))
    }

    /// Sends nothing any more, until the session is stopped.
    #[must_use]
    pub fn hangs(self) -> Self {
        self.step(ScriptStep::Hangs)
    }

    /// Panics inside the stream.
    #[must_use]
    pub fn panics(self) -> Self {
        self.step(ScriptStep::Panics)
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

    /// Adds the kinds of events that the script emits to `events`.
    pub(crate) fn add_event_kinds(&self, mut events: EventCapabilities) -> EventCapabilities {
        for step in &self.steps {
            match step {
                ScriptStep::Model(_) => {
                    events = events
                        .with_model_calls(Support::Yes)
                        .with_model_chunks(Support::Yes);
                }
                ScriptStep::Shows(..) => events = events.with_progress(Support::Yes),
                _ => {}
            }
        }
        events
    }

    /// Returns the script for a repetition of the session after a crash.
    ///
    /// The interrupted attempt may have done the work already, so calls that were expected to
    /// succeed may now fail. Calls that were expected to be denied must still be denied.
    #[must_use]
    pub fn repeated(mut self) -> Self {
        for step in &mut self.steps {
            if let ScriptStep::Tools(uses) = step {
                let succeeded = uses
                    .iter_mut()
                    .filter(|tool| tool.expect == Expectation::Runs);
                succeeded.for_each(|tool| tool.expect = Expectation::Anything);
            }
        }
        self
    }

    fn step(mut self, step: ScriptStep) -> Self {
        self.steps.push(step);
        self
    }
}

/// Returns the outcome of a session with an exceeded quota.
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
