//! Wraps a backend and records its sessions.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use autonoe_core::agent::{Prompt, SessionControl, Support};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, MessageStream, SessionSpec,
};
use futures::{StreamExt, stream};

use super::format::{
    Cassette, CassetteError, RecordedEnd, RecordedFailure, RecordedItem, RecordedSession,
    RecordedTurn,
};
use super::redaction::Secrets;

/// Records the sessions of any backend.
///
/// Every prompt and every response is recorded on the cassette, except secrets: the texts passed to
/// [`with_secrets`](Self::with_secrets) and the values of the sessions' environment are replaced by
/// `[redacted]` everywhere. The run itself is not affected.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::event::InstructionName;
/// use autonoe_core::ledger::MemoryRepository;
/// use autonoe_core::run::FixedInstructions;
/// use autonoe_core::{RunControl, SessionRunner};
/// use autonoe_testkit::{Recorder, ScriptedBackend, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let agents = ScriptedBackend::new([SessionScript::new("plans").says("the key is hunter2").ends()]);
/// let recorder = Arc::new(Recorder::new(agents).with_secrets(["hunter2"]));
///
/// let runner = SessionRunner::builder("/srv/project")
///     .agents(recorder.clone())
///     .repository(MemoryRepository::new())
///     .instructions(FixedInstructions::new([(InstructionName::Initializer, "Plan.")]))
///     .clock(VirtualClock::new())
///     .max_iterations(1)
///     .build()?;
/// runner.run(&RunControl::new()).await;
///
/// let cassette = recorder.cassette();
/// assert_eq!(cassette.sessions().len(), 1);
/// assert!(format!("{cassette:?}").contains("the key is [redacted]"));
/// # Ok::<(), autonoe_core::run::BuildError>(())
/// # }).expect("it builds");
/// ```
pub struct Recorder {
    inner: Arc<dyn AgentClientFactory>,
    shared_recording: SharedRecording,
}

/// The recording so far.
#[derive(Clone, Default)]
struct SharedRecording {
    recorded: Arc<Mutex<Recorded>>,
}

#[derive(Default)]
struct Recorded {
    backend: Option<Capabilities>,
    sessions: Vec<RecordedSession>,
    secrets: Secrets,
}

impl Recorder {
    /// Records the sessions of `inner`, a backend or an `Arc` of one.
    pub fn new(inner: impl AgentClientFactory + 'static) -> Self {
        Self {
            inner: Arc::new(inner),
            shared_recording: SharedRecording::default(),
        }
    }

    /// Adds texts that must not appear on the cassette.
    #[must_use]
    pub fn with_secrets<S: AsRef<str>>(self, secrets: impl IntoIterator<Item = S>) -> Self {
        for secret in secrets {
            self.shared_recording.lock().secrets.add(secret.as_ref());
        }
        self
    }

    /// Returns the recording so far.
    pub fn cassette(&self) -> Cassette {
        let recorded = self.shared_recording.lock();
        let mut cassette = Cassette::new(recorded.backend.clone(), recorded.sessions.clone());
        // Redacted only here, because a later session may reveal that an earlier text is a secret.
        recorded.secrets.redact(&mut cassette);
        cassette
    }

    /// Writes the recording so far to the file `path`.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), CassetteError> {
        self.cassette().save(path)
    }
}

impl SharedRecording {
    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts recording a session and returns its index.
    fn begin(&self, spec: &SessionSpec) -> usize {
        let mut recorded = self.lock();
        recorded.secrets.add_environment(spec);
        let tools = spec.tools.definitions();
        recorded.sessions.push(RecordedSession {
            number: spec.key.number,
            instruction: spec.instruction.clone(),
            model: spec.model.clone(),
            tools: tools.map(|tool| tool.name.clone()).collect(),
            refused: None,
            turns: Vec::new(),
        });
        recorded.sessions.len() - 1
    }
}

#[async_trait]
impl AgentClientFactory for Recorder {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let capabilities = self.inner.probe().await?;
        self.shared_recording.lock().backend = Some(capabilities.clone());
        Ok(capabilities)
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        self.inner.cost_of(model)
    }

    // The gate and the toolbox of the spec are passed on unchanged. Their decisions need not be
    // recorded separately: the stream has a response for each call, and its status shows whether
    // the call was denied, failed or succeeded.
    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let session = self.shared_recording.begin(&spec);
        match self.inner.create(spec) {
            Ok(inner) => Ok(Box::new(RecordingClient {
                inner,
                session,
                shared_recording: self.shared_recording.clone(),
            })),
            Err(error) => {
                self.shared_recording.lock().sessions[session].refused =
                    Some(RecordedFailure::new(&error));
                Err(error)
            }
        }
    }
}

struct RecordingClient {
    inner: Box<dyn AgentClient>,
    session: usize,
    shared_recording: SharedRecording,
}

#[async_trait]
impl AgentClient for RecordingClient {
    fn query(&mut self, prompt: Prompt) -> MessageStream<'_> {
        let (shared_recording, session) = (self.shared_recording.clone(), self.session);
        shared_recording.lock().sessions[session]
            .turns
            .push(RecordedTurn {
                prompt: prompt.text.clone(),
                stream: Vec::new(),
                end: RecordedEnd::LeftOpen,
            });
        let inner = self.inner.query(prompt);
        stream::unfold(
            (inner, shared_recording),
            move |(mut inner, shared_recording)| async move {
                let item = inner.next().await;
                // Turns of one client do not overlap, so it is the last one.
                if let Some(turn) = shared_recording.lock().sessions[session].turns.last_mut() {
                    match &item {
                        Some(item) => turn.stream.push(RecordedItem::new(item)),
                        None => turn.end = RecordedEnd::Closed,
                    }
                }
                Some((item?, (inner, shared_recording)))
            },
        )
        .boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        self.inner.control()
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        self.inner.dispose().await
    }
}

impl fmt::Debug for Recorder {
    // The recording still contains the secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("sessions", &self.shared_recording.lock().sessions.len())
            .finish_non_exhaustive()
    }
}
