//! A backend that plays a cassette.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, AgentErrorKind, Capabilities, HookCoverage,
    SessionSpec, Support, ToldEvents,
};

use super::format::{Cassette, RecordedSession};
use super::playback::ReplayedClient;
use super::reading::answered_calls;

/// A backend that plays a [`Cassette`] and fails when we decide differently now.
///
/// Sessions are found by their number. What the agent said comes back as it
/// was. Each call that was answered is put to the gate again and, if it is for
/// one of our tools, to the tool; the vendor's tools answer as they did. A call
/// that is now denied or allowed, or that fails or succeeds, other than
/// recorded is a mismatch, as is a session or a call that is missing on either
/// side. Prompts, models and the words of an answer may change.
///
/// Mismatches fail the test in [`verify`](Self::verify), and on drop, unless the
/// test is failing already. The drop stays silent while no session was asked
/// for, so that it does not hide why the run did not start.
///
/// The kind of a call is taken from the name of its tool: calls of a backend
/// that has other names are judged by those.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{
///     FixedInstructions, HookDecision, InstructionName, MemoryRepository, RunControl,
///     SessionRunner, hook_fn,
/// };
/// use autonoe_testkit::{Recorder, Replayer, ScriptedAgents, SessionScript, VirtualClock};
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
/// let recorder = Arc::new(Recorder::new(ScriptedAgents::new([script])));
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
/// # Ok::<(), autonoe_core::BuildError>(())
/// # }).expect("it builds");
/// ```
#[must_use = "a cassette that nobody plays tests nothing"]
pub struct Replayer {
    capabilities: Capabilities,
    deck: Deck,
    on_drop: OnDrop,
}

/// What to do with mismatches that nobody looked at.
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
            // What a backend tells beside its stream is not on the cassette.
            .with_events(ToldEvents::default())
            // These change nothing about a replay.
            .with_model(Support::Yes)
            .with_system_prompt(Support::Yes)
            .with_thinking(Support::Yes)
            .with_max_turns(Support::Yes)
            .with_mcp_servers(Support::Yes)
            .with_project_memory_off(Support::Yes);
        let slots = cassette.sessions.into_iter().map(Slot::new).collect();
        let deck = Deck::default();
        deck.lock().slots = slots;
        Self {
            capabilities,
            deck,
            on_drop: OnDrop::Verify,
        }
    }

    /// Does not fail the test on drop: for replays that are meant to differ.
    ///
    /// [`mismatches`](Self::mismatches) and [`verify`](Self::verify) still tell.
    pub fn unverified(mut self) -> Self {
        self.on_drop = OnDrop::Ignore;
        self
    }

    /// Returns what was different so far, what is missing yet included.
    pub fn mismatches(&self) -> Vec<String> {
        let deck = self.deck.lock();
        let missing = deck.slots.iter().filter_map(Slot::missing);
        deck.mismatches.iter().cloned().chain(missing).collect()
    }

    /// Fails the test if anything was different or is missing.
    ///
    /// # Panics
    ///
    /// There are [`mismatches`](Self::mismatches).
    pub fn verify(&self) {
        let mismatches = self.mismatches();
        assert!(
            mismatches.is_empty(),
            "the replay is not what was recorded:\n{}",
            mismatches.join("\n")
        );
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        // Before the first session, whatever the test is about has failed already, and reports why.
        let is_due = self.on_drop == OnDrop::Verify && self.deck.lock().was_used;
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
        let Some((slot, session)) = self.deck.begin(&spec) else {
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
        let client = ReplayedClient::new(self.deck.clone(), slot, session, spec, steering);
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

/// The sessions of a cassette while they are played.
#[derive(Clone, Default)]
pub(super) struct Deck {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Default)]
pub(super) struct Inner {
    pub(super) slots: Vec<Slot>,
    pub(super) mismatches: Vec<String>,
    /// Whether a session was asked for.
    was_used: bool,
}

/// A session and how far it was played.
pub(super) struct Slot {
    session: RecordedSession,
    started: bool,
    pub(super) calls: usize,
}

impl Deck {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the session that `spec` is for, or notes that there is none.
    fn begin(&self, spec: &SessionSpec) -> Option<(usize, RecordedSession)> {
        let (number, now) = (spec.key.number, &spec.instruction);
        let mut inner = self.lock();
        inner.was_used = true;
        let found = inner
            .slots
            .iter_mut()
            .enumerate()
            .find(|(_, slot)| !slot.started && slot.session.number == number)
            .map(|(index, slot)| {
                slot.started = true;
                (index, slot.session.clone())
            });
        match &found {
            None => inner
                .mismatches
                .push(format!("session {number} ({now}) is not on the cassette")),
            Some((_, session)) if session.instruction != *now => {
                let recorded = &session.instruction;
                inner.mismatches.push(format!(
                    "session {number}\n  - recorded instruction: {recorded}\n  + now instruction: {now}"
                ));
            }
            Some(_) => {}
        }
        found
    }
}

impl Slot {
    fn new(session: RecordedSession) -> Self {
        Self {
            session,
            started: false,
            calls: 0,
        }
    }

    /// Returns what of the session was not played.
    fn missing(&self) -> Option<String> {
        let number = self.session.number;
        let instruction = &self.session.instruction;
        let (made, recorded) = (self.calls, answered_calls(&self.session));
        if !self.started {
            Some(format!("session {number} ({instruction}) was never played"))
        } else if made < recorded {
            Some(format!(
                "session {number} ({instruction}) was stopped after {made} of {recorded} calls"
            ))
        } else {
            None
        }
    }
}
