//! A backend that plays scripts.

use std::collections::VecDeque;
use std::fmt;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentErrorKind, Capabilities, GateDecision,
    HookCoverage, InstructionName, SessionSpec, Support, TokenReports, ToldEvents, ToolCall,
};

use crate::client::ScriptedClient;
use crate::session_script::SessionScript;
use crate::stage::{Playing, ReceivedSession, Stage};

/// A backend that plays one script per session.
///
/// Scripts are keyed by the number of the session: the first one plays in
/// session 1. It is strict: a session without a script, a tool call that does
/// not go as expected and a step that was never played are problems. Problems
/// fail the test in [`verify`](Self::verify), and on drop, unless the test is
/// failing already. The drop stays silent while no session was asked for, so
/// that it does not hide why the run did not start. A session that is refused,
/// because it sets a field that is not claimed, counts as asked for.
#[must_use = "a script that nobody plays tests nothing"]
pub struct ScriptedAgents {
    stage: Stage,
    capabilities: Capabilities,
    on_drop: OnDrop,
}

/// What to do with problems that nobody looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl ScriptedAgents {
    /// Plays `scripts`, one per session.
    pub fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        Self::resuming_at(1, scripts)
    }

    /// Plays `scripts` for a run that goes on with session `first`: earlier scripts count as played.
    pub fn resuming_at(first: u32, scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        let stage = Stage::default();
        let mut told = ToldEvents::default();
        for (number, script) in (1..).zip(scripts) {
            told = script.told(told);
            let was_played = number < first;
            let playing = Playing {
                started: was_played,
                steps_done: if was_played { script.steps.len() } else { 0 },
                script,
            };
            stage.lock().scripts.insert(number, playing);
        }
        let capabilities = Capabilities::new("scripted agents")
            .with_version(env!("CARGO_PKG_VERSION"))
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            .with_tokens(TokenReports::EachCall)
            .with_quota_reset(Support::Yes)
            .with_model(Support::Yes)
            .with_system_prompt(Support::Yes)
            .with_thinking(Support::Yes)
            .with_max_turns(Support::Yes)
            .with_mcp_servers(Support::Yes)
            .with_project_memory_off(Support::Yes)
            .with_in_process_tools(Support::Yes)
            .with_events(told);
        Self {
            stage,
            capabilities,
            on_drop: OnDrop::Verify,
        }
    }

    /// Plays `scripts` in sessions that have this instruction, whatever their numbers are: one after
    /// the other, and the last again and again. Nobody minds how many are played.
    pub fn for_instruction(
        mut self,
        name: impl Into<String>,
        scripts: impl IntoIterator<Item = SessionScript>,
    ) -> Self {
        let scripts: VecDeque<_> = scripts.into_iter().collect();
        let told = scripts.iter();
        let told = told.fold(self.capabilities.events, |told, script| script.told(told));
        self.capabilities = self.capabilities.clone().with_events(told);
        let mut stage = self.stage.lock();
        let name = InstructionName::new(name);
        stage.for_instructions.insert(name, scripts);
        drop(stage);
        self
    }

    /// Claims other capabilities. By default everything but resume, steering and the outer sandbox
    /// is claimed; calls of models and progress are claimed if a script has them. A session that
    /// sets a field that is not claimed is refused.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Does not fail the test on drop: for scripts that are meant to be interrupted.
    ///
    /// [`problems`](Self::problems) and [`verify`](Self::verify) still tell.
    pub fn unverified(mut self) -> Self {
        self.on_drop = OnDrop::Ignore;
        self
    }

    /// Returns what the scripted agents claim to be able to do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns what each session was given, in the order of their start.
    pub fn received(&self) -> Vec<ReceivedSession> {
        self.stage.lock().received.clone()
    }

    /// Returns the prompts of all sessions.
    pub fn prompts(&self) -> Vec<String> {
        self.received()
            .into_iter()
            .map(|received| received.prompt)
            .collect()
    }

    /// Returns every tool call that was put to the gate, with the decision.
    pub fn decisions(&self) -> Vec<(ToolCall, GateDecision)> {
        self.received()
            .into_iter()
            .flat_map(|received| received.decisions)
            .collect()
    }

    /// Returns how many clients were disposed of.
    pub fn disposed(&self) -> usize {
        self.stage.lock().disposed
    }

    /// Returns how many clients are neither disposed of nor dropped.
    pub fn alive(&self) -> usize {
        self.stage.lock().alive
    }

    /// Returns what went wrong so far, left-over sessions and steps included.
    pub fn problems(&self) -> Vec<String> {
        self.stage.problems()
    }

    /// Fails the test if anything went wrong or was left over.
    ///
    /// # Panics
    ///
    /// There are [`problems`](Self::problems).
    pub fn verify(&self) {
        let problems = self.problems();
        assert!(
            problems.is_empty(),
            "the script was not played as written:{}",
            list(&problems)
        );
    }
}

fn list(problems: &[String]) -> String {
    problems
        .iter()
        .map(|problem| format!("\n- {problem}"))
        .collect()
}

impl Drop for ScriptedAgents {
    fn drop(&mut self) {
        // Before the first session, whatever the test is about has failed already, and reports why.
        let is_due = self.on_drop == OnDrop::Verify && self.stage.was_used();
        if is_due && !std::thread::panicking() {
            self.verify();
        }
    }
}

#[async_trait]
impl AgentClientFactory for ScriptedAgents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(self.capabilities.clone())
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.stage.mark_used();
        if let Err(refused) = spec.refuse_unclaimed(&self.capabilities) {
            let number = spec.key.number;
            self.stage
                .problem(format!("session {number} was refused: {refused}"));
            return Err(refused);
        }
        let script = self
            .stage
            .begin(&spec)
            .map_err(|refusal| AgentError::new(AgentErrorKind::Configuration, refusal))?;
        let steering = self.capabilities.steering;
        Ok(Box::new(ScriptedClient::new(
            self.stage.clone(),
            script,
            spec,
            steering,
        )))
    }
}

impl fmt::Debug for ScriptedAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedAgents")
            .field("problems", &self.problems())
            .finish()
    }
}
