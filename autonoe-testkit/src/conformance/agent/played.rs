//! Sessions played from start to end, with an ordered record of everything that happened.

use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::SessionOutcome;
use autonoe_core::event::{Events, SpanContext};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::time::SessionKey;
use autonoe_core::tool::ToolStatus;
use autonoe_core::{
    AgentError, HookDecision, PreToolUseHook, RunEvent, RunObserver, StreamEvent, ToolCall,
};
use futures::FutureExt;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::Scenario;
use super::fixture::{Fixture, GateMode, Session, Subject, dispose, prompt, read};
use crate::conformance::checks::{CheckOutcome, Flaw, panicked, within};

/// A played session: the result of its turn, and everything that happened.
pub(super) struct PlayedSession {
    pub(super) label: &'static str,
    pub(super) key: SessionKey,
    pub(super) cwd: PathBuf,
    pub(super) events: Events,
    pub(super) turn: CheckOutcome,
    pub(super) disposal: CheckOutcome,
    pub(super) log: Vec<RecordEntry>,
}

/// A call in the stream.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    pub(super) at: usize,
    pub(super) id: &'a str,
    pub(super) name: &'a str,
    pub(super) input: &'a Value,
}

/// A response in the stream.
#[derive(Debug)]
pub(super) struct Response<'a> {
    pub(super) at: usize,
    pub(super) id: &'a str,
    pub(super) output: &'a str,
    pub(super) status: ToolStatus,
}

/// Plays one session of `scenario`.
///
/// A turn that hangs or panics is a separate finding: the session is still returned, with
/// everything that happened until then.
pub(super) async fn play(
    subject: &Subject<'_>,
    label: &'static str,
    scenario: &Scenario,
    gate: GateMode,
) -> CheckOutcome<PlayedSession> {
    let playing = AssertUnwindSafe(async {
        let mut fixture = Fixture::new(subject, scenario).await?;
        let limit = fixture.limit;
        let Session {
            mut client,
            record,
            key,
            cwd,
            events,
        } = fixture.session(gate)?;
        let turn = AssertUnwindSafe(async {
            let mut stream = client.query(prompt());
            read(&mut stream, &record, limit).await
        });
        let turn = turn
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| Err(panicked(panic)));
        let disposal = AssertUnwindSafe(dispose(client, limit))
            .catch_unwind()
            .await;
        let disposal = disposal.unwrap_or_else(|panic| Err(panicked(panic)));
        Ok(PlayedSession {
            label,
            key,
            cwd,
            events,
            turn,
            disposal,
            log: record.all(),
        })
    });
    let played = playing.catch_unwind().await;
    // The process check reports the result.
    let _ = subject.check_leftover_processes(label).await;
    played.unwrap_or_else(|panic| Err(panicked(panic)))
}

impl PlayedSession {
    /// Returns the items of the stream, errors as text.
    pub(super) fn items(&self) -> impl Iterator<Item = Result<&StreamEvent, &str>> {
        self.log.iter().filter_map(|entry| match entry {
            RecordEntry::Streamed(event) => Some(Ok(event)),
            RecordEntry::Failed(error) => Some(Err(error.as_str())),
            _ => None,
        })
    }

    /// Returns the outcome of the turn, if the stream reported one.
    pub(super) fn outcome(&self) -> Option<&SessionOutcome> {
        self.items().find_map(|item| match item {
            Ok(StreamEvent::End { outcome, .. }) => Some(outcome),
            _ => None,
        })
    }

    pub(super) fn invocations(&self) -> Vec<Invocation<'_>> {
        let log = self.log.iter().enumerate();
        log.filter_map(|(at, entry)| match entry {
            RecordEntry::Streamed(StreamEvent::ToolInvocation {
                call_id,
                name,
                input,
                ..
            }) => Some(Invocation {
                at,
                id: call_id,
                name,
                input,
            }),
            _ => None,
        })
        .collect()
    }

    pub(super) fn responses(&self) -> Vec<Response<'_>> {
        let log = self.log.iter().enumerate();
        log.filter_map(|(at, entry)| match entry {
            RecordEntry::Streamed(StreamEvent::ToolResponse {
                call_id,
                output,
                status,
                ..
            }) => Some(Response {
                at,
                id: call_id,
                output,
                status: *status,
            }),
            _ => None,
        })
        .collect()
    }

    /// Returns the response to the call with this id.
    ///
    /// Another check reports a missing response; without it, this check is untestable.
    pub(super) fn response_to(&self, id: &str) -> CheckOutcome<Response<'_>> {
        self.responses()
            .into_iter()
            .find(|response| response.id == id)
            .ok_or_else(|| {
                Flaw::Untestable(format!("{}: there is no answer to call {id:?}", self.label))
            })
    }

    /// Returns the inputs of the probe tool's calls, in order.
    pub(super) fn runs(&self) -> Vec<(&SessionKey, &Value)> {
        self.log
            .iter()
            .filter_map(|entry| match entry {
                RecordEntry::ToolStarted { session, input } => Some((session, input)),
                _ => None,
            })
            .collect()
    }
}

/// An event of a session, as the suite saw it.
#[derive(Clone, Debug)]
pub(super) enum RecordEntry {
    /// The gate was called.
    GateCalled(ToolCall),
    /// The probe tool started.
    ToolStarted { session: SessionKey, input: Value },
    /// The probe tool ended, or was stopped.
    ToolEnded,
    /// The backend emitted an event beside its stream.
    Emitted(EmittedEvent),
    /// The stream yielded an event.
    Streamed(StreamEvent),
    /// The stream yielded an error.
    Failed(String),
}

/// An event that a backend emitted beside its stream: its span, and the event as JSON.
#[derive(Clone, Debug)]
pub(super) struct EmittedEvent {
    pub(super) span: SpanContext,
    pub(super) event: Value,
}

impl RunObserver for Record {
    fn on_event(&self, event: &RunEvent<'_>) {
        self.push(RecordEntry::Emitted(EmittedEvent {
            span: event.span,
            event: serde_json::to_value(event).unwrap_or(Value::Null),
        }));
    }
}

/// Records what happens in a session. Clones share the record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    log: Arc<Mutex<Vec<RecordEntry>>>,
    news: Arc<watch::Sender<()>>,
}

impl Record {
    pub(super) fn new() -> Self {
        Self {
            log: Arc::default(),
            news: Arc::new(watch::Sender::new(())),
        }
    }

    pub(super) fn push(&self, entry: RecordEntry) {
        self.log().push(entry);
        self.news.send_replace(());
    }

    pub(super) fn push_item(&self, item: Result<StreamEvent, AgentError>) {
        self.push(match item {
            Ok(event) => RecordEntry::Streamed(event),
            Err(error) => RecordEntry::Failed(error.to_string()),
        });
    }

    pub(super) fn all(&self) -> Vec<RecordEntry> {
        self.log().clone()
    }

    /// Waits until a matching entry is recorded.
    pub(super) async fn wait_for(
        &self,
        limit: Duration,
        event: &str,
        is_match: impl Fn(&RecordEntry) -> bool,
    ) -> CheckOutcome {
        let mut news = self.news.subscribe();
        let wait = async {
            while !self.log().iter().any(&is_match) {
                if news.changed().await.is_err() {
                    return;
                }
            }
        };
        within(limit, event, wait).await
    }

    fn log(&self) -> MutexGuard<'_, Vec<RecordEntry>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hook that records its calls and always returns the same decision.
pub(super) struct RecordingHook {
    pub(super) record: Record,
    pub(super) answer: HookDecision,
    /// Delays the decision until this is cancelled.
    pub(super) answers_after: Option<CancellationToken>,
}

#[async_trait]
impl PreToolUseHook for RecordingHook {
    fn name(&self) -> &str {
        "conformance"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        self.record.push(RecordEntry::GateCalled(call.clone()));
        if let Some(token) = &self.answers_after {
            token.cancelled().await;
        }
        self.answer.clone()
    }
}
