//! [`Record`]: an ordered record of everything that happens in a session.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::event::SpanContext;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::time::SessionKey;
use autonoe_core::{
    AgentError, HookDecision, PreToolUseHook, RunEvent, RunObserver, StreamEvent, ToolCall,
};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::conformance::checks::{CheckOutcome, within};

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
