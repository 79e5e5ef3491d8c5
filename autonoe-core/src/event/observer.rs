//! [`RunObserver`], the receiver of events, and [`Events`], the handle that emits them.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::agent::{CostUsd, TokenUsage};
use crate::event::session_activity::{Heartbeat, UnfinishedEvents};
use crate::event::{RunEvent, RunEventKind, SpanContext, SpanId, TraceContext, TraceId};
use crate::time::{Clock, IdSource, SeededIds, SystemClock};

/// Receives the events of a run.
///
/// Implementations must return quickly, because the run waits for them. Send events to a channel if
/// handling them takes time. A panic is caught and logged through `tracing`; it neither ends the
/// run nor hides the event from other observers.
///
/// Events arrive one at a time, in the order in which they happened, and in the same order for all
/// observers. To influence decisions, use a [`PreToolUseHook`](crate::PreToolUseHook).
///
/// Closures `Fn(&RunEvent)` implement this trait:
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{RunEvent, RunEventKind, RunObserver};
///
/// let print_changes: Arc<dyn RunObserver> = Arc::new(|event: &RunEvent<'_>| {
///     if let RunEventKind::StatusChanged { change } = &event.kind {
///         println!("{} is now {}", change.id, change.status);
///     }
/// });
/// ```
pub trait RunObserver: Send + Sync {
    /// Handles `event`.
    fn on_event(&self, event: &RunEvent<'_>);
}

#[deny(clippy::missing_trait_methods)]
impl<O: RunObserver + ?Sized> RunObserver for Arc<O> {
    fn on_event(&self, event: &RunEvent<'_>) {
        (**self).on_event(event);
    }
}

impl<F> RunObserver for F
where
    F: Fn(&RunEvent<'_>) + Send + Sync,
{
    fn on_event(&self, event: &RunEvent<'_>) {
        self(event);
    }
}

/// Returns the cost of a model call from the name of the model and the tokens used, or `None` if it
/// is unknown. See [`Events::with_costs`].
pub type CallCosts = Arc<dyn Fn(&str, &TokenUsage) -> Option<CostUsd> + Send + Sync>;

/// Handle that emits events to observers from one position in the span tree of a run.
///
/// Cheap to clone. The gate and the tools emit their own events, and the reader of an agent's
/// stream emits those of the agent. Through [`SessionSpec::events`](crate::SessionSpec::events), a
/// backend emits what only it knows: model calls, progress, details.
#[derive(Clone)]
pub struct Events {
    shared: Option<Arc<Shared>>,
    span: SpanContext,
    open: Option<Arc<UnfinishedEvents>>,
    heartbeat: Arc<Heartbeat>,
    costs: Option<CallCosts>,
}

struct Shared {
    /// Locked while emitting, so that all observers receive all events in the same order.
    observers: Mutex<Vec<Arc<dyn RunObserver>>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    model_calls: AtomicU64,
    /// Parents of the calls that sub-agents make: span of the call to span of the sub-agent's call.
    nested: Mutex<HashMap<SpanId, SpanId>>,
}

impl Shared {
    fn notify(&self, event: &RunEvent<'_>) {
        let observers = self.observers.lock();
        for observer in observers.unwrap_or_else(PoisonError::into_inner).iter() {
            if catch_unwind(AssertUnwindSafe(|| observer.on_event(event))).is_err() {
                tracing::error!("an observer panicked; the run continues");
            }
        }
    }

    fn nested(&self) -> MutexGuard<'_, HashMap<SpanId, SpanId>> {
        self.nested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    /// Creates a handle for `observers` at the root of a new trace.
    pub fn new(
        observers: Vec<Arc<dyn RunObserver>>,
        clock: impl Clock + 'static,
        ids: impl IdSource + 'static,
    ) -> Self {
        let ids: Arc<dyn IdSource> = Arc::new(ids);
        let span = ids.root_span();
        Self {
            shared: Some(Arc::new(Shared {
                observers: Mutex::new(observers),
                clock: Arc::new(clock),
                ids,
                model_calls: AtomicU64::new(0),
                nested: Mutex::default(),
            })),
            span,
            open: None,
            heartbeat: Arc::default(),
            costs: None,
        }
    }

    /// Attaches this span, the root of a run, to a trace that started in another process.
    #[must_use]
    pub fn in_trace(mut self, parent: &TraceContext) -> Self {
        self.span = SpanContext::root(parent.trace(), parent.span()).child(self.span.span);
        self
    }

    /// Creates a handle that emits nothing.
    pub fn silent() -> Self {
        Self {
            shared: None,
            span: SpanContext::root(TraceId(1), SpanId(1)),
            open: None,
            heartbeat: Arc::default(),
            costs: None,
        }
    }

    /// Returns the position in the span tree.
    pub fn span(&self) -> &SpanContext {
        &self.span
    }

    /// Creates a handle for a new child span.
    #[must_use]
    pub fn child(&self) -> Self {
        match &self.shared {
            Some(shared) => Self {
                span: shared.ids.child_span(&self.span),
                ..self.clone()
            },
            None => self.clone(),
        }
    }

    /// Creates a handle for the child span of a tool call. The same call always gets the same span.
    ///
    /// The gate and the tools emit events of one call from different tasks. A derived span id lets
    /// them share a span without shared state.
    #[must_use]
    pub fn at_call(&self, call_id: &str) -> Self {
        let mut events = self.named_child("", call_id);
        if let Some(shared) = &self.shared
            && let Some(parent) = shared.nested().get(&events.span.span)
        {
            events.span.parent = Some(*parent);
        }
        events
    }

    /// Records that a sub-agent makes this call. `parent_call_id` is the call that started the
    /// sub-agent. From then on, the span of `call_id` is a child of the span of that call.
    ///
    /// A backend calls this before the first event of the call is emitted, as soon as it reads
    /// about the call. The first parent of a call wins. Relations that would form a cycle are
    /// ignored.
    ///
    /// ```
    /// use autonoe_core::event::Events;
    /// use autonoe_core::time::{SeededIds, SystemClock};
    ///
    /// let session = Events::new(vec![], SystemClock, SeededIds::new(1));
    /// session.set_call_parent("read-1", "task-1");
    ///
    /// let (task, read) = (session.at_call("task-1"), session.at_call("read-1"));
    /// assert_eq!(read.span().parent, Some(task.span().span));
    /// ```
    pub fn set_call_parent(&self, call_id: &str, parent_call_id: &str) {
        let Some(shared) = &self.shared else { return };
        let span_of = |id| self.named_child("", id).span.span;
        let (call, parent) = (span_of(call_id), span_of(parent_call_id));
        let mut nested = shared.nested();
        let mut ancestor = Some(parent);
        while let Some(at) = ancestor {
            if at == call {
                return;
            }
            ancestor = nested.get(&at).copied();
        }
        nested.entry(call).or_insert(parent);
    }

    /// Derives the child span for a name. `kind` keeps the names of different things apart.
    fn named_child(&self, kind: &str, name: &str) -> Self {
        let parent = self.span.span.0.to_le_bytes();
        let bytes = parent.iter().chain(kind.as_bytes()).chain(name.as_bytes());
        // The 64-bit FNV-1a hash; W3C Trace Context forbids zero.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            span: self.span.child(SpanId(hash.max(1))),
            ..self.clone()
        }
    }

    /// Emits through `open`, which tracks unfinished events, and records heartbeats in `heartbeat`.
    pub(crate) fn in_session(
        mut self,
        open: Arc<UnfinishedEvents>,
        heartbeat: Arc<Heartbeat>,
    ) -> Self {
        self.open = Some(open);
        self.heartbeat = heartbeat;
        self
    }

    /// Returns the tracker of the most recent event from this span or a descendant.
    pub(crate) fn heartbeat(&self) -> &Arc<Heartbeat> {
        &self.heartbeat
    }

    /// Sets the function that fills in the cost of model calls that report none. It applies to this
    /// handle and to handles derived from it.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use autonoe_core::event::Events;
    /// use autonoe_core::CostUsd;
    ///
    /// // For a backend that reports tokens but no cost.
    /// let events = Events::default().with_costs(Arc::new(|model, tokens| {
    ///     (model == "a-model").then(|| CostUsd::from_cents(tokens.total()))
    /// }));
    /// # drop(events);
    /// ```
    #[must_use]
    pub fn with_costs(mut self, costs: CallCosts) -> Self {
        self.costs = Some(costs);
        self
    }

    /// Returns the function that prices model calls without a cost.
    pub(crate) fn costs(&self) -> Option<&CallCosts> {
        self.costs.as_ref()
    }

    /// Returns a handle for another span of the same run.
    pub(crate) fn at_span(&self, span: SpanContext) -> Self {
        let mut events = self.clone();
        events.span = span;
        events
    }

    /// Creates a handle for the span of a model call, a new child of this one.
    ///
    /// Span ids are derived from a counter, not drawn at random: the same script yields the same
    /// ids.
    pub(crate) fn child_for_model_call(&self) -> Self {
        let number = match &self.shared {
            Some(shared) => shared.model_calls.fetch_add(1, Ordering::Relaxed),
            None => 0,
        };
        // No tool call id starts with this prefix.
        self.named_child("\0model call ", &number.to_string())
    }

    /// Emits a detail that helps to find the cause of a problem.
    pub fn debug(&self, message: &str, data: Option<&Value>) {
        self.emit(RunEventKind::Debug { message, data });
    }

    /// Emits a detail at the most verbose level.
    pub fn trace(&self, message: &str, data: Option<&Value>) {
        self.emit(RunEventKind::Trace { message, data });
    }

    /// Records a heartbeat for a backend that has no other event to emit, so that its session does
    /// not count as idle. Every emitted event is a heartbeat, too.
    pub fn record_heartbeat(&self) {
        if let Some(shared) = &self.shared {
            self.heartbeat.record(shared.clock.now());
        }
    }

    /// Emits an event.
    pub fn emit(&self, kind: RunEventKind<'_>) {
        let Some(shared) = &self.shared else { return };
        let at = shared.clock.now();
        self.heartbeat.record(at);
        // The lock is held while observers are notified, so that no event follows the end of its
        // session.
        let mut open = self.open.as_ref().map(|open| open.lock());
        if let Some(open) = &mut open
            && !open.try_register(&kind, &self.span)
        {
            return;
        }
        if let RunEventKind::ToolEnded { .. } = &kind {
            shared.nested().remove(&self.span.span);
        }
        shared.notify(&RunEvent {
            at,
            span: self.span,
            kind,
        });
    }
}

impl Default for Events {
    /// Returns a handle without observers at the root of a trace with a fixed seed.
    fn default() -> Self {
        Self::new(
            Vec::new(),
            Arc::new(SystemClock),
            Arc::new(SeededIds::new(0)),
        )
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("span", &self.span)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> Events {
        Events::new(
            Vec::new(),
            Arc::new(SystemClock),
            Arc::new(SeededIds::new(1)),
        )
    }

    #[test]
    fn a_call_of_a_sub_agent_keeps_its_span_and_gets_another_parent() {
        let session = session();
        let before = session.at_call("read");

        session.set_call_parent("read", "task");
        session.set_call_parent("deep", "read");

        let (task, read) = (session.at_call("task"), session.at_call("read"));
        assert_eq!(task.span.parent, Some(session.span.span));
        assert_eq!(read.span.span, before.span.span);
        assert_eq!(read.span.parent, Some(task.span.span));
        let deep = session.at_call("deep").span.parent;
        assert_eq!(deep, Some(read.span.span));
    }

    #[test]
    fn cycles_are_ignored_and_the_first_parent_wins() {
        let session = session();

        session.set_call_parent("a", "a");
        session.set_call_parent("a", "b");
        session.set_call_parent("b", "a");
        session.set_call_parent("a", "c");

        let parent = |id| session.at_call(id).span.parent;
        assert_eq!(parent("a"), Some(session.at_call("b").span.span));
        assert_eq!(parent("b"), Some(session.span.span));
    }
}
