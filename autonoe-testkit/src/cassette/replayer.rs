//! Backend that replays a cassette.

use std::fmt;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, EventCapabilities, HookCoverage, Support};
use autonoe_core::{AgentClient, AgentClientFactory, AgentError, Capabilities, SessionSpec};

use super::format::Cassette;
use super::playback::ReplayedClient;
use super::replay_state::{ReplayState, Slot};

/// A backend that plays a [`Cassette`] and fails when the current gate and tools decide
/// differently.
///
/// Sessions are found by their number. The agent's messages are replayed unchanged. Each answered
/// call goes through the gate again and, if it calls one of Autonoe's tools, through the tool; the
/// vendor's tools return their recorded answers. A call whose denial, success or failure differs
/// from the recording is a mismatch, as is a session or a call that is missing on either side.
/// Prompts, models and the texts of answers may change.
///
/// Mismatches fail the test in [`verify`](Self::verify), and on drop, unless the test is already
/// failing. Before the first session is created, the drop does not check anything, so that it does
/// not hide why the run did not start.
///
/// The kind of a call is derived from the name of its tool: calls of a backend with other tool
/// names are judged by those names.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::ledger::MemoryRepository;
/// use autonoe_core::run::FixedInstructions;
/// use autonoe_core::{HookDecision, RunControl, SessionRunner, hook_fn};
/// use autonoe_testkit::{Recorder, Replayer, ScriptedBackend, SessionScript, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let runner = || {
///     let texts = FixedInstructions::new([(InstructionName::Initializer, "Plan.")]);
///     SessionRunner::builder("/srv/project")
///         .repository(MemoryRepository::new())
///         .instructions(texts)
///         .clock(VirtualClock::new())
///         .max_iterations(1)
/// };
/// let script = SessionScript::new("plans").uses_tool("Read", json!({"file_path": "SPEC.md"})).ends();
/// let recorder = Arc::new(Recorder::new(ScriptedBackend::new([script])));
/// runner().agents(recorder.clone()).build()?.run(&RunControl::new()).await;
///
/// // The same run with another hook does not decide the same.
/// let replayer = Arc::new(Replayer::new(recorder.cassette()).unverified());
/// let hook = hook_fn("blind", |_, _| HookDecision::block("there is nothing to see"));
/// runner().agents(replayer.clone()).hook(hook).build()?.run(&RunControl::new()).await;
///
/// assert_eq!(replayer.mismatches(), [r#"session 1 (initializer), call 1: Read {"file_path":"SPEC.md"}
///   - recorded ok: "done"
///   + now denied: "denied by blind: there is nothing to see""#]);
/// # Ok::<(), autonoe_core::run::BuildError>(())
/// # }).expect("it builds");
/// ```
#[must_use = "a cassette that is not played tests nothing"]
pub struct Replayer {
    capabilities: Capabilities,
    replay_state: ReplayState,
    on_drop: OnDrop,
}

/// Action on drop if the mismatches were not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OnDrop {
    Verify,
    Ignore,
}

impl Replayer {
    /// Plays `cassette`.
    pub fn new(cassette: Cassette) -> Self {
        let capabilities = cassette.backend.unwrap_or_else(|| {
            Capabilities::new("cassette")
                .with_hooks(HookCoverage::EveryTool)
                .with_sandbox(Support::Yes)
                .with_in_process_tools(Support::Yes)
        });
        let capabilities = capabilities
            // Events that a backend emits beside its stream are not on the cassette.
            .with_events(EventCapabilities::default())
            // These have no effect on a replay.
            .with_model(Support::Yes)
            .with_system_prompt(Support::Yes)
            .with_thinking(Support::Yes)
            .with_max_turns(Support::Yes)
            .with_mcp_servers(Support::Yes)
            .with_project_memory_off(Support::Yes);
        let slots = cassette.sessions.into_iter().map(Slot::new).collect();
        let replay_state = ReplayState::default();
        replay_state.lock().slots = slots;
        Self {
            capabilities,
            replay_state,
            on_drop: OnDrop::Verify,
        }
    }

    /// Does not fail the test on drop, for replays that are meant to differ.
    ///
    /// [`mismatches`](Self::mismatches) and [`verify`](Self::verify) still report them.
    pub fn unverified(mut self) -> Self {
        self.on_drop = OnDrop::Ignore;
        self
    }

    /// Returns the differences so far, including everything that is still missing.
    pub fn mismatches(&self) -> Vec<String> {
        let replay_state = self.replay_state.lock();
        let missing = replay_state.slots.iter().filter_map(Slot::missing);
        replay_state
            .mismatches
            .iter()
            .cloned()
            .chain(missing)
            .collect()
    }

    /// Fails the test if anything differs or is missing.
    ///
    /// # Panics
    ///
    /// If there are [`mismatches`](Self::mismatches).
    pub fn verify(&self) {
        let mismatches = self.mismatches();
        assert!(
            mismatches.is_empty(),
            "the replay differs from the recording:\n{}",
            mismatches.join("\n")
        );
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        // Before the first session, the subject of the test has already failed and reports why.
        let is_due = self.on_drop == OnDrop::Verify && self.replay_state.lock().was_used;
        if is_due && !std::thread::panicking() {
            self.verify();
        }
    }
}

#[async_trait]
impl AgentClientFactory for Replayer {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(self.capabilities.clone())
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let number = spec.key.number;
        let Some((slot, session)) = self.replay_state.begin(&spec) else {
            return Err(AgentError::new(
                AgentErrorKind::Configuration,
                format!("session {number} is not on the cassette"),
            ));
        };
        if let Some(refused) = &session.refused {
            return Err(refused.error());
        }
        spec.refuse_unclaimed(&self.capabilities)?;
        let steering = self.capabilities.steering;
        let client = ReplayedClient::new(self.replay_state.clone(), slot, session, spec, steering);
        Ok(Box::new(client))
    }
}

impl fmt::Debug for Replayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replayer")
            .field("mismatches", &self.mismatches())
            .finish_non_exhaustive()
    }
}
