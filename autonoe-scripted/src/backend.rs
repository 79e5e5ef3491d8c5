//! [`ScriptedBackend`], a backend that plays scripts.

use std::collections::VecDeque;
use std::fmt;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, EventCapabilities, HookCoverage, Support, TokenReports};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::GateDecision;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec, ToolCall,
};

use crate::client::ScriptedClient;
use crate::script_state::{ReceivedSession, ScriptProgress, ScriptState};
use crate::session_script::SessionScript;

/// A backend that plays one script per session.
///
/// Scripts are keyed by the number of the session: the first one plays in session 1. The backend is
/// strict: a session without a script, a tool call with an unexpected outcome and a step that was
/// never played are problems. Problems fail the test in [`verify`](Self::verify), and on drop,
/// unless the test is failing already. The drop stays silent if no session was requested, so that
/// it does not hide why the run did not start. A session that is refused because it sets an
/// unclaimed field counts as requested.
#[must_use = "a script that is never played tests nothing"]
pub struct ScriptedBackend {
    state: ScriptState,
    capabilities: Capabilities,
    on_drop: OnDrop,
}

/// The treatment of unverified problems on drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl ScriptedBackend {
    /// Plays `scripts`, one per session.
    pub fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        Self::resuming_at(1, scripts)
    }

    /// Plays `scripts` for a run that resumes with session `first`: earlier scripts count as
    /// played.
    pub fn resuming_at(first: u32, scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        let state = ScriptState::default();
        let mut events = EventCapabilities::default();
        for (number, script) in (1..).zip(scripts) {
            events = script.add_event_kinds(events);
            let was_played = number < first;
            let playing = ScriptProgress {
                started: was_played,
                steps_done: if was_played { script.steps.len() } else { 0 },
                script,
            };
            state.lock().scripts.insert(number, playing);
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
            .with_events(events);
        Self {
            state,
            capabilities,
            on_drop: OnDrop::Verify,
        }
    }

    /// Plays `scripts` in sessions that have this instruction, whatever their numbers are: one
    /// after the other, and the last one repeatedly. The number of sessions is not verified.
    pub fn for_instruction(
        mut self,
        name: impl Into<String>,
        scripts: impl IntoIterator<Item = SessionScript>,
    ) -> Self {
        let scripts: VecDeque<_> = scripts.into_iter().collect();
        let add_events = |events, script: &SessionScript| script.add_event_kinds(events);
        let events = scripts.iter().fold(self.capabilities.events, add_events);
        self.capabilities = self.capabilities.clone().with_events(events);
        let mut state = self.state.lock();
        let name = InstructionName::new(name);
        state.for_instructions.insert(name, scripts);
        drop(state);
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
    /// [`problems`](Self::problems) and [`verify`](Self::verify) still report problems.
    pub fn unverified(mut self) -> Self {
        self.on_drop = OnDrop::Ignore;
        self
    }

    /// Returns the capabilities that the scripted agents claim.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns the input of each session, in the order of their start.
    pub fn received(&self) -> Vec<ReceivedSession> {
        self.state.lock().received.clone()
    }

    /// Returns the prompts of all sessions.
    pub fn prompts(&self) -> Vec<String> {
        self.received()
            .into_iter()
            .map(|received| received.prompt)
            .collect()
    }

    /// Returns every tool call that the gate decided about, with the decision.
    pub fn decisions(&self) -> Vec<(ToolCall, GateDecision)> {
        self.received()
            .into_iter()
            .flat_map(|received| received.decisions)
            .collect()
    }

    /// Returns how many clients were disposed of.
    pub fn disposed(&self) -> usize {
        self.state.lock().disposed
    }

    /// Returns how many clients are neither disposed of nor dropped.
    pub fn open_clients(&self) -> usize {
        self.state.lock().open_clients
    }

    /// Returns the problems so far, including sessions and steps that were not played.
    pub fn problems(&self) -> Vec<String> {
        self.state.problems()
    }

    /// Fails the test if there are problems.
    ///
    /// # Panics
    ///
    /// Panics if there are [`problems`](Self::problems).
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

impl Drop for ScriptedBackend {
    fn drop(&mut self) {
        // Before the first session, the code under test has failed already, and reports why.
        let is_due = self.on_drop == OnDrop::Verify && self.state.was_used();
        if is_due && !std::thread::panicking() {
            self.verify();
        }
    }
}

#[async_trait]
impl AgentClientFactory for ScriptedBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(self.capabilities.clone())
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.state.mark_used();
        if let Err(refused) = spec.refuse_unclaimed(&self.capabilities) {
            let number = spec.key.number;
            self.state
                .record_problem(format!("session {number} was refused: {refused}"));
            return Err(refused);
        }
        let script = self
            .state
            .start_session(&spec)
            .map_err(|refusal| AgentError::new(AgentErrorKind::Configuration, refusal))?;
        let steering = self.capabilities.steering;
        Ok(Box::new(ScriptedClient::new(
            self.state.clone(),
            script,
            spec,
            steering,
        )))
    }
}

impl fmt::Debug for ScriptedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedBackend")
            .field("problems", &self.problems())
            .finish()
    }
}
