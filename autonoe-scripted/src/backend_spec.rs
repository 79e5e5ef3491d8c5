//! Scripts from a configuration file.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentClientFactory, BackendProbe, BackendSpec, CostUsd, Credentials, ProbeFinding,
    SessionOutcome, SpecContext, SpecError, Support, TokenUsage,
};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agents::ScriptedAgents;
use crate::model_use::ModelUse;
use crate::session_script::SessionScript;
use crate::step::{Expectation, ToolUse};

/// Describes scripted agents in a configuration file: `{"type": "scripted", ..}`.
///
/// ```
/// use autonoe_core::BackendSpec;
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
pub struct ScriptedBackend {
    /// One script per session.
    sessions: Vec<ScriptedSession>,
    /// Whether a session can resume an earlier conversation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    resume: bool,
}

/// What an agent does in one session.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ScriptedSession {
    /// Names the script in failures.
    name: String,
    /// The instruction of the sessions that it is for, for example `task-api`, whatever their
    /// numbers are: the first of several is played first, and the last again and again. Without
    /// it the script is for the session of its number, counted among those without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instruction: Option<String>,
    /// What the session costs.
    #[serde(default)]
    cost_usd: CostUsd,
    /// What the agent does, in order.
    steps: Vec<ScriptedStep>,
}

/// One step.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
enum ScriptedStep {
    /// Says something.
    Says(String),
    /// Thinks aloud.
    Thinks(String),
    /// Asks a model, and says its answer.
    AsksModel(ScriptedModel),
    /// Calls a tool that must run and succeed.
    Uses(ScriptedCall),
    /// Calls a tool that must be denied.
    IsDenied(ScriptedDenial),
    /// Writes a file in the directory of the session, if the gate lets it.
    Writes(WrittenFile),
    /// Waits, in milliseconds.
    WaitsMs(u64),
    /// Waits until there is a file at this path, from the directory of the session on.
    WaitsForFile(PathBuf),
    /// Ends because the quota is spent, which comes back at this time.
    HitsQuota(Option<Timestamp>),
    /// Ends because the quota is spent, which comes back this many milliseconds after the step.
    HitsQuotaForMs(u64),
    /// Ends with an error of its own.
    EndsWithError(String),
    /// Says nothing any more.
    Hangs,
    /// Ends as completed.
    Ends,
}

/// A file that is written.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WrittenFile {
    /// The path, from the directory of the session on.
    path: PathBuf,
    /// What stands in it then.
    text: String,
}

/// A call of a model.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ScriptedModel {
    /// The model.
    model: String,
    /// What it answers.
    answer: String,
    /// What the call uses.
    #[serde(default)]
    tokens: TokenUsage,
}

/// A tool call.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    /// The tool.
    tool: String,
    /// What it is called with.
    input: Value,
}

/// A tool call that is expected to be denied.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ScriptedDenial {
    /// The tool.
    tool: String,
    /// What it is called with.
    input: Value,
    /// The guard or hook that must deny it, or `grants`; without it, any of them may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<String>,
}

impl ScriptedSession {
    fn script(&self) -> SessionScript {
        let script = SessionScript::new(&self.name).costs(self.cost_usd);
        self.steps.iter().fold(script, |script, step| match step {
            ScriptedStep::Says(text) => script.says(text),
            ScriptedStep::Thinks(text) => script.thinks(text),
            ScriptedStep::AsksModel(asked) => {
                let model = ModelUse::new(&asked.model, &asked.answer);
                script.asks_model(model.using(asked.tokens, None))
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
impl BackendSpec for ScriptedBackend {
    fn build(&self, _: &SpecContext) -> Result<Arc<dyn AgentClientFactory>, SpecError> {
        if self.sessions.is_empty() {
            return Err(SpecError::new("scripted", "it has no sessions to play"));
        }
        let numbered = self.sessions.iter().filter(|it| it.instruction.is_none());
        let mut agents = ScriptedAgents::new(numbered.map(ScriptedSession::script));
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
        // A run that stops before the script does is no failed test.
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

autonoe_core::register_spec!(Backend, ScriptedBackend, "scripted", {
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
