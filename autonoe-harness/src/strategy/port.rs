//! What a strategy is.

use std::fmt;
use std::sync::Arc;

use autonoe_core::SpecPort;

use super::{Fleet, HarnessId};

/// The port under which strategies register themselves.
pub const STRATEGY_PORT: SpecPort = SpecPort::Other("strategy");

/// Decides how the members of a fleet work together.
///
/// It is a pure function of how the fleet stands, asked again after every change until it
/// finishes. It starts, stops and waits for nobody itself: the coordinator carries out what it
/// says, and never more at once than it may. An implementer is a plain serialisable struct whose
/// tag reads `crate-thing`.
///
/// Its contract, which the suite in `conformance` tries:
///
/// - the same fleet gives the same orders;
/// - it orders only what can be done: waiting members are started, running ones stopped;
/// - while nothing is at work, it starts somebody or finishes: it never waits for nothing;
/// - it finishes when nobody is at work any more, and only then;
/// - a winner has succeeded, and who has no success does not succeed.
///
/// ```
/// use autonoe_harness::{Decision, Fleet, Order, Strategy};
/// use serde::{Deserialize, Serialize};
///
/// /// Starts the first member alone and forgets the others.
/// #[derive(Debug, Serialize, Deserialize)]
/// struct OnlyTheFirst {}
///
/// #[typetag::serde(name = "docs-only-the-first")]
/// impl Strategy for OnlyTheFirst {
///     fn decide(&self, fleet: &Fleet) -> Vec<Order> {
///         let Some(first) = fleet.members().first() else {
///             return vec![Order::Finish(Decision::failed())];
///         };
///         match first.result() {
///             Some(result) if result.success => vec![Order::Finish(Decision::won_by(result))],
///             Some(_) => vec![Order::Finish(Decision::failed())],
///             None => vec![Order::start(&first.id)],
///         }
///     }
/// }
///
/// let strategy: Box<dyn Strategy> = serde_json::from_str(r#"{"type": "docs-only-the-first"}"#)?;
/// assert_eq!(strategy.typetag_name(), "docs-only-the-first");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[typetag::serde(tag = "type")]
pub trait Strategy: fmt::Debug + Send + Sync {
    /// Says what is to be done, given how the fleet stands.
    ///
    /// Orders about members that are no longer what they were when it was asked are passed over,
    /// so it may give the same order again.
    fn decide(&self, fleet: &Fleet) -> Vec<Order>;
}

/// A strategy, given as a value or as an `Arc<dyn Strategy>`.
///
/// An `Arc` of a strategy is none itself, because a strategy can be written to a file.
pub trait IntoStrategy {
    /// Shares the strategy.
    fn into_strategy(self) -> Arc<dyn Strategy>;
}

impl<S: Strategy + 'static> IntoStrategy for S {
    fn into_strategy(self) -> Arc<dyn Strategy> {
        Arc::new(self)
    }
}

impl IntoStrategy for Arc<dyn Strategy> {
    fn into_strategy(self) -> Arc<dyn Strategy> {
        self
    }
}

/// What a strategy wants to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// A waiting member is to work, as soon as there is room for it.
    Start {
        /// Who.
        member: HarnessId,
        /// What it is given beside its own task: the output of the one before it.
        input: Option<String>,
    },
    /// A running member is to stop.
    Stop {
        /// Who.
        member: HarnessId,
        /// Why, for people.
        why: String,
    },
    /// All is over.
    Finish(Decision),
}

impl Order {
    /// Starts a member on its own task.
    pub fn start(member: &HarnessId) -> Self {
        Self::Start {
            member: member.clone(),
            input: None,
        }
    }

    /// Stops a member.
    pub fn stop(member: &HarnessId, why: impl Into<String>) -> Self {
        Self::Stop {
            member: member.clone(),
            why: why.into(),
        }
    }
}

/// How a strategy judges what its fleet came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Whether it succeeded.
    pub success: bool,
    /// Whose result counts, where one does.
    pub winner: Option<HarnessId>,
    /// The output of all, or of the one that counts.
    pub output: Option<String>,
}

impl Decision {
    /// Nobody did what was asked.
    pub fn failed() -> Self {
        Self {
            success: false,
            winner: None,
            output: None,
        }
    }

    /// One member's result counts.
    pub fn won_by(result: &super::HarnessResult) -> Self {
        Self {
            success: true,
            winner: Some(result.id.clone()),
            output: Some(result.output.clone()),
        }
    }
}
