//! What happened in a session, in the order in which it was seen.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    AgentError, HookDecision, PreToolUseHook, ProjectPaths, RunEvent, RunObserver, SessionKey,
    SpanContext, StreamEvent, ToolCall,
};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::conformance::checks::{Finding, within};

/// Something that happened in a session.
#[derive(Clone, Debug)]
pub(super) enum Happening {
    /// The gate was asked about a call.
    Asked(ToolCall),
    /// The probe tool began to run.
    Ran { session: SessionKey, input: Value },
    /// The probe tool ended, or was ended.
    Over,
    /// The backend told something beside its stream.
    Told(Told),
    /// The stream gave an event.
    Saw(StreamEvent),
    /// The stream gave an error.
    Failed(String),
}

/// What a backend told beside its stream: where, and the event as other programs read it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) span: SpanContext,
    pub(super) event: Value,
}

impl RunObserver for Record {
    fn on_event(&self, event: &RunEvent<'_>) {
        self.note(Happening::Told(Told {
            span: event.span,
            event: serde_json::to_value(event).unwrap_or(Value::Null),
        }));
    }
}

/// Writes down what happens in a session. Clones write to the same record.
#[derive(Clone, Debug)]
pub(super) struct Record {
    log: Arc<Mutex<Vec<Happening>>>,
    news: Arc<watch::Sender<()>>,
}

impl Record {
    pub(super) fn new() -> Self {
        Self {
            log: Arc::default(),
            news: Arc::new(watch::Sender::new(())),
        }
    }

    pub(super) fn note(&self, happening: Happening) {
        self.log().push(happening);
        self.news.send_replace(());
    }

    pub(super) fn note_item(&self, item: Result<StreamEvent, AgentError>) {
        self.note(match item {
            Ok(event) => Happening::Saw(event),
            Err(error) => Happening::Failed(error.to_string()),
        });
    }

    pub(super) fn all(&self) -> Vec<Happening> {
        self.log().clone()
    }

    /// Waits until something happened.
    pub(super) async fn wait_for(
        &self,
        limit: Duration,
        what: &str,
        happened: impl Fn(&Happening) -> bool,
    ) -> Finding {
        let mut news = self.news.subscribe();
        let wait = async {
            while !self.log().iter().any(&happened) {
                if news.changed().await.is_err() {
                    return;
                }
            }
        };
        within(limit, what, wait).await
    }

    fn log(&self) -> MutexGuard<'_, Vec<Happening>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hook that writes down what it is asked, and always answers the same.
pub(super) struct RecordingHook {
    pub(super) record: Record,
    pub(super) answer: HookDecision,
    /// Keeps the answer back until it is cancelled.
    pub(super) answers_after: Option<CancellationToken>,
}

#[async_trait]
impl PreToolUseHook for RecordingHook {
    fn name(&self) -> &str {
        "conformance"
    }

    async fn check(&self, call: &ToolCall, _: &ProjectPaths) -> HookDecision {
        self.record.note(Happening::Asked(call.clone()));
        if let Some(token) = &self.answers_after {
            token.cancelled().await;
        }
        self.answer.clone()
    }
}
