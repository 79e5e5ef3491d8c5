//! [`FlowObserver`]: receives the events of a flow.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::definition::{StepId, VariableName};
use crate::machine::{FlowAction, FlowFact, SessionChoice, StepAttempt};

/// An event of a flow. Observers of the run receive the events of its sessions.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum FlowEvent<'a> {
    /// A prompt is sent for a step.
    PromptSent {
        /// The iteration, counted from 1.
        iteration: u64,
        /// The attempt of the step.
        at: &'a StepAttempt,
        /// The conversation that is continued, or a new one.
        session: &'a SessionChoice,
    },
    /// Variables of a prompt are undefined. They are left unchanged in the text.
    Undefined {
        /// The step whose prompt, or whose check's prompt, uses them.
        step: &'a StepId,
        /// The variables.
        variables: &'a BTreeSet<VariableName>,
    },
    /// The flow has processed a fact and continues.
    Decided {
        /// The fact.
        fact: &'a FlowFact,
        /// The next action.
        action: &'a FlowAction,
    },
}

/// Receives the events of a flow.
///
/// It is called from the task of the flow and should return quickly. A panic does not affect the
/// flow.
///
/// ```
/// use autonoe_flow::machine::SessionChoice;
/// use autonoe_flow::{FlowEvent, FlowObserver};
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
    /// Handles an event.
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
