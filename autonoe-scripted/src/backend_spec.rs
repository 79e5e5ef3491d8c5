//! [`ScriptedSpec`], the description of scripts in a configuration file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{
    BackendProbe, Credentials, ProbeFinding, SessionOutcome, Support, TokenUsage,
};
use autonoe_core::spec::{BackendSpec, SpecContext, SpecError};
use autonoe_core::{AgentClientFactory, CostUsd};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backend::ScriptedBackend;
use crate::session_script::SessionScript;
use crate::step::{Expectation, ModelUse, ToolUse};

/// Configures scripted agents: `{"type": "scripted", ..}`.
///
/// ```
/// use autonoe_core::spec::BackendSpec;
/// use autonoe_scripted as _;
///
/// let json = r#"{"type": "scripted", "sessions": [
///     {"name": "plan", "steps": [{"says": "hello"}, "ends"]}
/// ]}"#;
/// let backend: Box<dyn BackendSpec> = serde_json::from_str(json)?;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScriptedSpec {
    /// One script per session.
    sessions: Vec<ScriptedSession>,
    /// Whether a session can resume an earlier conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    resume: bool,
}

/// The steps of an agent in one session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ScriptedSession {
    /// The name of the script in failures.
    name: String,
    /// The instruction of the sessions that play this script, for example `task-api`, whatever
    /// their numbers are. The first of several scripts is played first, and the last one
    /// repeatedly. Without it, the script is for the session of its number, counted among the
    /// scripts without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    /// The cost of the session.
    #[serde(default)]
    cost_usd: CostUsd,
    /// The steps, in order.
    steps: Vec<ScriptedStep>,
}

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum ScriptedStep {
    /// Sends text.
    Says(String),
    /// Sends a thought.
    Thinks(String),
    /// Calls a model, and sends its answer.
    CallsModel(ScriptedModel),
    /// Calls a tool that must run and succeed.
    Uses(ScriptedCall),
    /// Calls a tool that must be denied.
    IsDenied(ScriptedDenial),
    /// Writes a file in the directory of the session, if the gate allows it.
    Writes(WrittenFile),
    /// Waits, in milliseconds.
    WaitsMs(u64),
    /// Waits until a file exists at this path, relative to the directory of the session.
    WaitsForFile(PathBuf),
    /// Ends with an exceeded quota, which resets at this time.
    HitsQuota(Option<Timestamp>),
    /// Ends with an exceeded quota, which resets this many milliseconds after the step.
    HitsQuotaForMs(u64),
    /// Ends with an error of its own.
    EndsWithError(String),
    /// Sends nothing any more.
    Hangs,
    /// Ends as completed.
    Ends,
}

/// A file to write.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    /// The path, relative to the directory of the session.
    path: PathBuf,
    /// The content.
    text: String,
}

/// A call of a model.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ScriptedModel {
    /// The model.
    model: String,
    /// The answer.
    answer: String,
    /// The token usage.
    #[serde(default)]
    tokens: TokenUsage,
}

/// A tool call.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    /// The tool.
    tool: String,
    /// The input.
    input: Value,
}

/// A tool call that is expected to be denied.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScriptedDenial {
    /// The tool.
    tool: String,
    /// The input.
    input: Value,
    /// The guard or hook that must deny it, or `grants`. By default any of them may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

impl ScriptedSession {
    fn script(&self) -> SessionScript {
        let script = SessionScript::new(&self.name).costs(self.cost_usd);
        self.steps.iter().fold(script, |script, step| match step {
            ScriptedStep::Says(text) => script.says(text),
            ScriptedStep::Thinks(text) => script.thinks(text),
            ScriptedStep::CallsModel(call) => {
                let model = ModelUse::new(&call.model, &call.answer);
                script.calls_model(model.using(call.tokens, None))
            }
            ScriptedStep::Uses(call) => script.calls(ToolUse::new(&call.tool, call.input.clone())),
            ScriptedStep::IsDenied(denial) => {
                let expected = match &denial.by {
                    Some(by) => Expectation::DeniedBy(by.clone()),
                    None => Expectation::Denied,
                };
                let call = ToolUse::new(&denial.tool, denial.input.clone());
                script.calls(call.expecting(expected))
            }
            ScriptedStep::Writes(file) => script.writes(&file.path, &file.text),
            ScriptedStep::WaitsForFile(path) => script.waits_for_file(path),
            ScriptedStep::WaitsMs(millis) => script.waits(Duration::from_millis(*millis)),
            ScriptedStep::HitsQuota(resets_at) => script.hits_quota(*resets_at),
            ScriptedStep::HitsQuotaForMs(millis) => {
                script.hits_quota_for(Duration::from_millis(*millis))
            }
            ScriptedStep::EndsWithError(message) => {
                let messages = vec![message.clone()];
                script.ends_with(SessionOutcome::ExecutionError { messages })
            }
            ScriptedStep::Hangs => script.hangs(),
            ScriptedStep::Ends => script.ends(),
        })
    }
}

#[typetag::serde(name = "scripted")]
#[async_trait]
impl BackendSpec for ScriptedSpec {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        if self.sessions.is_empty() {
            return Err(SpecError::new(
                "scripted",
                "it has no sessions; add at least one",
            ));
        }
        let numbered = self.sessions.iter().filter(|it| it.instruction.is_none());
        let mut agents = ScriptedBackend::new(numbered.map(ScriptedSession::script));
        let mut named = BTreeMap::<_, Vec<_>>::new();
        for session in &self.sessions {
            if let Some(instruction) = &session.instruction {
                named.entry(instruction).or_default().push(session.script());
            }
        }
        for (instruction, scripts) in named {
            agents = agents.for_instruction(instruction, scripts);
        }
        if self.resume {
            let capabilities = agents.capabilities().clone().with_resume(Support::Yes);
            agents = agents.with_capabilities(capabilities);
        }
        // A run that stops before the end of the script is not a failed test.
        Ok(Arc::new(agents.unverified()))
    }

    async fn probe(&self, context: &SpecContext) -> BackendProbe {
        let finding = match (self.build(context), self.sessions.len()) {
            (Err(error), _) => ProbeFinding::explained_problem("script", error.to_string()),
            (Ok(_), 1) => ProbeFinding::good("script", "1 session"),
            (Ok(_), sessions) => ProbeFinding::good("script", format!("{sessions} sessions")),
        };
        BackendProbe::new("scripted")
            .with_credentials(Credentials::NotNeeded)
            .finding(finding)
    }
}

autonoe_core::register_spec!(Backend, ScriptedSpec, "scripted", {
    "sessions": [{
        "name": "plan",
        "costUsd": "0.25",
        "steps": [
            {"says": "I plan."},
            {"uses": {"tool": "mcp__autonoe__create", "input": {"deliverables": []}}},
            "ends"
        ]
    }]
});
