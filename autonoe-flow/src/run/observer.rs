//! Who is told what a flow does.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::definition::{StepId, VariableName};
use crate::machine::{FlowAction, FlowFact, SessionChoice, StepTry};

/// Something that happened in a flow. What happens in its sessions is told to observers of the run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FlowEvent<'a> {
    /// A prompt is sent for a step.
    PromptSent {
        /// The iteration, from 1.
        iteration: u64,
        /// Where the flow is.
        at: &'a StepTry,
        /// Whether a conversation is continued, and which.
        session: &'a SessionChoice,
    },
    /// Nothing sets these variables of a prompt; they stay as they are.
    Undefined {
        /// The step whose prompt, or whose check's prompt, names them.
        step: &'a StepId,
        /// The variables.
        variables: &'a BTreeSet<VariableName>,
    },
    /// The flow took note of something, and goes on.
    Decided {
        /// What it took note of.
        fact: &'a FlowFact,
        /// What comes next.
        action: &'a FlowAction,
    },
}

/// Is told what a flow does.
///
/// It is called from the task of the flow and should be quick. One that panics
/// does not harm the flow.
///
/// ```
/// use autonoe_flow::{FlowEvent, FlowObserver, SessionChoice};
///
/// /// Counts conversations.
/// #[derive(Default)]
/// struct Conversations(std::sync::atomic::AtomicUsize);
///
/// impl FlowObserver for Conversations {
///     fn on_event(&self, event: &FlowEvent<'_>) {
///         if let FlowEvent::PromptSent { session: SessionChoice::Fresh, .. } = event {
///             self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
///         }
///     }
/// }
/// ```
pub trait FlowObserver: Send + Sync {
    /// Takes notice of an event.
    fn on_event(&self, event: &FlowEvent<'_>);
}

#[deny(clippy::missing_trait_methods)]
impl<O: FlowObserver + ?Sized> FlowObserver for Arc<O> {
    fn on_event(&self, event: &FlowEvent<'_>) {
        (**self).on_event(event);
    }
}

impl<F> FlowObserver for F
where
    F: Fn(&FlowEvent<'_>) + Send + Sync,
{
    fn on_event(&self, event: &FlowEvent<'_>) {
        self(event);
    }
}

/// Tells all observers, in their order.
pub(super) fn tell(observers: &[Arc<dyn FlowObserver>], event: &FlowEvent<'_>) {
    for observer in observers {
        if catch_unwind(AssertUnwindSafe(|| observer.on_event(event))).is_err() {
            tracing::error!("an observer of a flow panicked");
        }
    }
}
