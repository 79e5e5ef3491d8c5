//! What watches a run.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Clock, IdSource, RunEvent, RunEventKind, SeededIds, SystemClock};
use crate::domain::{SpanContext, SpanId, TraceId};

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
/// Cheap to clone. Backends get one through the session's gate and toolbox and
/// need not call it themselves.
#[derive(Clone)]
pub struct Events {
    shared: Option<Arc<Shared>>,
    span: SpanContext,
}

struct Shared {
    /// Under a lock, so that all observers see all events in the same order.
    observers: Mutex<Vec<Arc<dyn RunObserver>>>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
}

impl Events {
    /// Tells `observers`, from the root of a new trace.
    pub fn new(
        observers: Vec<Arc<dyn RunObserver>>,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn IdSource>,
    ) -> Self {
        let span = ids.root_span();
        Self {
            shared: Some(Arc::new(Shared {
                observers: Mutex::new(observers),
                clock,
                ids,
            })),
            span,
        }
    }

    /// Tells nobody.
    pub fn silent() -> Self {
        Self {
            shared: None,
            span: SpanContext::root(TraceId(1), SpanId(1)),
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
                shared: Some(shared.clone()),
                span: shared.ids.child_span(&self.span),
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
        let parent = self.span.span.0.to_le_bytes();
        let bytes = parent.iter().chain(call_id.as_bytes());
        // The 64-bit FNV-1a hash; W3C Trace Context forbids zero.
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self {
            shared: self.shared.clone(),
            span: self.span.child(SpanId(hash.max(1))),
        }
    }

    /// Tells that something happened.
    pub fn emit(&self, kind: RunEventKind<'_>) {
        let Some(shared) = &self.shared else { return };
        let observers = shared
            .observers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if observers.is_empty() {
            return;
        }
        let event = RunEvent {
            at: shared.clock.now(),
            span: self.span,
            kind,
        };
        for observer in observers.iter() {
            if catch_unwind(AssertUnwindSafe(|| observer.on_event(&event))).is_err() {
                tracing::error!("an observer panicked; the run goes on");
            }
        }
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
