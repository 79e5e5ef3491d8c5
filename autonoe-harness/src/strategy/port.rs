//! Port of strategies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use autonoe_core::spec::SpecPort;

use super::{Decision, Fleet, MemberId};

/// Registry port of strategies.
pub const STRATEGY_PORT: SpecPort = SpecPort::Other("strategy");

/// Decides how the members of a fleet work together.
///
/// A strategy is a pure function of the fleet's state, called again after every change until it
/// finishes. It starts, stops and waits for no member itself: the coordinator performs its orders,
/// within the limit of concurrent members. Implementations are plain serialisable structs, whose
/// tag has the form `crate-thing`.
///
/// Its contract, which the suite in `conformance` checks:
///
/// - The same fleet gives the same orders.
/// - Orders are possible: only waiting members are started, and only running ones are stopped.
/// - While no member runs, it starts one or finishes: it never waits for nothing.
/// - It finishes only when no member runs any more.
/// - A winner has succeeded, and without any success the strategy does not succeed.
///
/// ```
/// use autonoe_harness::strategy::{Decision, Fleet, Order};
/// use autonoe_harness::Strategy;
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
    /// Returns the orders for the current state of the fleet.
    ///
    /// Orders for members whose state has changed since are ignored, so an order may be repeated.
    fn decide(&self, fleet: &Fleet) -> Vec<Order>;

    /// Returns whether the strategy selects the work of one member. Then all members do the same
    /// work, that of the winner is merged, and that of the others is discarded.
    fn picks_winner(&self) -> bool {
        false
    }

    /// Returns whether each member needs a worktree of its own that keeps its work until the fleet
    /// ends.
    fn needs_worktrees(&self) -> bool {
        self.picks_winner()
    }

    /// Returns the strategy to use for members that depend on others, or `None` to use this one
    /// unchanged. `after` contains the dependencies of each member that has any.
    ///
    /// # Errors
    ///
    /// It cannot respect dependencies; the reason follows "the task ID depends on another task, ".
    fn with_dependencies(&self, after: &Dependencies) -> Result<Option<Arc<dyn Strategy>>, String> {
        let _ = after;
        Ok(None)
    }
}

/// The dependencies of each member that has any.
pub type Dependencies = BTreeMap<MemberId, BTreeSet<MemberId>>;

/// A strategy, given as a value or as an `Arc<dyn Strategy>`.
///
/// An `Arc` of a strategy does not implement [`Strategy`] itself, because strategies are
/// serialisable.
pub trait IntoStrategy {
    /// Converts into a shared strategy.
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

/// Order of a strategy to the coordinator.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {
    /// Start a waiting member, as soon as there is room for it.
    Start {
        /// The member.
        member: MemberId,
        /// Input in addition to its own task: the output of the previous members.
        input: Option<String>,
    },
    /// Stop a running member.
    Stop {
        /// The member.
        member: MemberId,
        /// The reason, for people.
        reason: String,
    },
    /// Finish the fleet.
    Finish(Decision),
}

impl Order {
    /// Starts a member without additional input.
    pub fn start(member: &MemberId) -> Self {
        Self::Start {
            member: member.clone(),
            input: None,
        }
    }

    /// Stops a member.
    pub fn stop(member: &MemberId, reason: impl Into<String>) -> Self {
        Self::Stop {
            member: member.clone(),
            reason: reason.into(),
        }
    }
}
