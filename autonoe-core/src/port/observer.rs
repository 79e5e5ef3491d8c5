//! What watches a run.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::session_scope::OpenEnds;
use super::signs_of_life::SignsOfLife;
use super::{
    CallCosts, Clock, IdSource, ModelAsked, ModelCall, ProgressNote, RunEvent, RunEventKind,
    SeededIds, SystemClock,
};
use crate::domain::{SpanContext, SpanId, TraceContext, TraceId};

/// Watches a run.
///
/// An implementer owes a quick return: the run waits for it. Send events to a
/// channel if handling them takes time. A panic is caught and traced; it
/// neither ends the run nor keeps the event from other observers.
///
/// A caller may assume that events arrive one at a time, in the order in which
/// they happened, and for all observers in the same order. For deciding there
/// are [`PreToolUseHook`](super::PreToolUseHook)s.
///
/// Closures `Fn(&RunEvent)` implement it:
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{RunEvent, RunEventKind, RunObserver};
///
/// let tell_changes: Arc<dyn RunObserver> = Arc::new(|event: &RunEvent<'_>| {
///     if let RunEventKind::StatusChanged { change } = &event.kind {
///         println!("{} is now {}", change.id, change.status);
///     }
/// });
/// ```
pub trait RunObserver: Send + Sync {
    /// Takes notice of `event`.
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

/// Tells observers what happens, at one place in the tree of a run.
///
/// Cheap to clone. What gate and tools do is told by them, and what an agent says by who reads its
/// stream. A backend tells through [`SessionSpec::events`](super::SessionSpec::events) what only it
/// knows: calls of models, progress, details.
#[derive(Clone)]
pub struct Events {
    shared: Option<Arc<Shared>>,
    span: SpanContext,
    open: Option<Arc<OpenEnds>>,
    signs: Arc<SignsOfLife>,
    costs: Option<CallCosts>,
}

struct Shared {
    /// Under a lock, so that all observers see all events in the same order.
    observers: Mutex<Vec<Arc<dyn RunObserver>>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    model_calls: AtomicU64,
    /// Calls that sub-agents make, and the calls that the sub-agents are.
    nested: Mutex<HashMap<SpanId, SpanId>>,
}

impl Shared {
    fn tell(&self, event: &RunEvent<'_>) {
        let observers = self.observers.lock();
        for observer in observers.unwrap_or_else(PoisonError::into_inner).iter() {
            if catch_unwind(AssertUnwindSafe(|| observer.on_event(event))).is_err() {
                tracing::error!("an observer panicked; the run goes on");
            }
        }
    }

    fn nested(&self) -> MutexGuard<'_, HashMap<SpanId, SpanId>> {
        self.nested.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Events {
    /// Tells `observers`, from the root of a new trace.
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
            signs: Arc::default(),
            costs: None,
        }
    }

    /// Makes this place, the root of a run, a part of a trace that began elsewhere.
    #[must_use]
    pub fn in_trace(mut self, parent: &TraceContext) -> Self {
        self.span = SpanContext::root(parent.trace(), parent.span()).child(self.span.span);
        self
    }

    /// Tells nobody.
    pub fn silent() -> Self {
        Self {
            shared: None,
            span: SpanContext::root(TraceId(1), SpanId(1)),
            open: None,
            signs: Arc::default(),
            costs: None,
        }
    }

    /// Returns the place in the tree.
    pub fn span(&self) -> &SpanContext {
        &self.span
    }

    /// Makes a place below this one.
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

    /// Makes the place of a tool call below this one: the same each time for the same call.
    ///
    /// Gate and tools tell of one call from different tasks; this way it is one
    /// span without anything shared between them.
    #[must_use]
    pub fn at_call(&self, call_id: &str) -> Self {
        let mut place = self.below("", call_id);
        if let Some(shared) = &self.shared
            && let Some(parent) = shared.nested().get(&place.span.span)
        {
            place.span.parent = Some(*parent);
        }
        place
    }

    /// Says that a call is made by a sub-agent, and which call the sub-agent is. From then on
    /// its place is below that call.
    ///
    /// A backend says so before anybody tells of the call, as soon as it reads of it. What
    /// would make a circle is passed over.
    ///
    /// ```
    /// use autonoe_core::{Events, SeededIds, SystemClock};
    ///
    /// let session = Events::new(vec![], SystemClock, SeededIds::new(1));
    /// session.call_within("read-1", "task-1");
    ///
    /// let (task, read) = (session.at_call("task-1"), session.at_call("read-1"));
    /// assert_eq!(read.span().parent, Some(task.span().span));
    /// ```
    pub fn call_within(&self, call_id: &str, parent_call_id: &str) {
        let Some(shared) = &self.shared else { return };
        let place = |id| self.below("", id).span.span;
        let (call, parent) = (place(call_id), place(parent_call_id));
        let mut nested = shared.nested();
        let mut above = Some(parent);
        while let Some(at) = above {
            if at == call {
                return;
            }
            above = nested.get(&at).copied();
        }
        nested.entry(call).or_insert(parent);
    }

    /// Makes the place below this one that has a name; `kind` keeps names of different things apart.
    fn below(&self, kind: &str, name: &str) -> Self {
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

    /// Tells through `open`, which knows what has no end yet, with signs of life of its own.
    pub(super) fn within(mut self, open: Arc<OpenEnds>, signs: Arc<SignsOfLife>) -> Self {
        self.open = Some(open);
        self.signs = signs;
        self
    }

    /// Returns when something was last told from here or from a place below.
    pub(crate) fn signs(&self) -> &Arc<SignsOfLife> {
        &self.signs
    }

    /// Fills in what calls of models cost that are told from here, or from a place below,
    /// without a cost.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use autonoe_core::{CostUsd, Events};
    ///
    /// // A backend that tells tokens and no money is given these.
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

    /// Returns what calls of models cost that do not tell it.
    pub(super) fn costs(&self) -> Option<&CallCosts> {
        self.costs.as_ref()
    }

    /// Goes to another place of the same run.
    pub(super) fn at(&self, span: SpanContext) -> Self {
        let mut there = self.clone();
        there.span = span;
        there
    }

    /// Tells that a model is asked, at a new place below this one, and returns what tells the rest.
    ///
    /// Places are counted, not drawn: the same script has the same ids.
    pub fn model_call(&self, asked: &ModelAsked<'_>) -> ModelCall {
        let number = match &self.shared {
            Some(shared) => shared.model_calls.fetch_add(1, Ordering::Relaxed),
            None => 0,
        };
        // No id of a tool call starts like this.
        ModelCall::begin(self.below("\0model call ", &number.to_string()), asked)
    }

    /// Shows people what goes on, until the note is dropped.
    ///
    /// ```
    /// use autonoe_core::Events;
    ///
    /// let events = Events::silent(); // a backend has `SessionSpec::events`
    ///
    /// let note = events.progress("compacting the conversation");
    /// // .. it takes a while ..
    /// drop(note);
    /// ```
    pub fn progress(&self, message: &str) -> ProgressNote {
        ProgressNote::show(self.clone(), message)
    }

    /// Tells a detail for who looks for the cause of something.
    pub fn debug(&self, message: &str, data: Option<&Value>) {
        self.emit(RunEventKind::Debug { message, data });
    }

    /// Tells a detail that is only of use when nothing else helps.
    pub fn trace(&self, message: &str, data: Option<&Value>) {
        self.emit(RunEventKind::Trace { message, data });
    }

    /// Shows that a backend lives of which there is nothing else to tell: its session is not
    /// idle. All that is told shows it too.
    pub fn sign_of_life(&self) {
        if let Some(shared) = &self.shared {
            self.signs.note(shared.clock.now());
        }
    }

    /// Tells that something happened.
    pub fn emit(&self, kind: RunEventKind<'_>) {
        let Some(shared) = &self.shared else { return };
        let at = shared.clock.now();
        self.signs.note(at);
        // Held until it is told, so that nothing is told after the end of its session.
        let mut open = self.open.as_ref().map(|open| open.lock());
        if let Some(open) = &mut open
            && !open.admits(&kind, &self.span)
        {
            return;
        }
        if let RunEventKind::ToolEnded { .. } = &kind {
            shared.nested().remove(&self.span.span);
        }
        shared.tell(&RunEvent {
            at,
            span: self.span,
            kind,
        });
    }
}

impl Default for Events {
    /// A place at the root of a seeded trace that nobody watches.
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
    fn a_call_of_a_sub_agent_is_the_same_place_below_another_call() {
        let session = session();
        let before = session.at_call("read");

        session.call_within("read", "task");
        session.call_within("deep", "read");

        let (task, read) = (session.at_call("task"), session.at_call("read"));
        assert_eq!(task.span.parent, Some(session.span.span));
        assert_eq!(read.span.span, before.span.span);
        assert_eq!(read.span.parent, Some(task.span.span));
        let deep = session.at_call("deep").span.parent;
        assert_eq!(deep, Some(read.span.span));
    }

    #[test]
    fn what_would_be_a_circle_is_passed_over_and_the_first_word_counts() {
        let session = session();

        session.call_within("a", "a");
        session.call_within("a", "b");
        session.call_within("b", "a");
        session.call_within("a", "c");

        let parent = |id| session.at_call(id).span.parent;
        assert_eq!(parent("a"), Some(session.at_call("b").span.span));
        assert_eq!(parent("b"), Some(session.span.span));
    }
}
