//! Fleet events and their observers.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use autonoe_core::RunId;
use jiff::Timestamp;
use serde::Serialize;

use super::CutShort;
use crate::strategy::{MemberId, MemberReport};

/// Something that happened in a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetEvent {
    /// The fleet.
    pub fleet: String,
    /// The time of the event.
    pub at: Timestamp,
    /// The event.
    #[serde(flatten)]
    pub kind: FleetEventKind,
}

/// Kind of a fleet event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum FleetEventKind {
    /// The fleet started.
    FleetStarted {
        /// The `type` of its strategy.
        strategy: String,
        /// Its members, in their order.
        members: Vec<MemberId>,
    },
    /// A member was started.
    Started {
        /// The member.
        member: MemberId,
        /// Its run.
        run: RunId,
    },
    /// The run of a member exists already: an earlier coordinator started it.
    RunFound {
        /// The member.
        member: MemberId,
        /// Its run.
        run: RunId,
        /// Whether its run has ended. Its end follows at once, and an earlier coordinator may have
        /// reported it.
        has_ended: bool,
    },
    /// A member cannot be paid now, and waits until others return budget.
    WaitsForBudget {
        /// The member.
        member: MemberId,
        /// The missing budget, for people.
        reason: String,
    },
    /// The fleet is paused: no member starts, and running members are asked to pause.
    Paused,
    /// The fleet resumed.
    Resumed,
    /// A member is being stopped.
    Stopping {
        /// The member.
        member: MemberId,
        /// The reason, for people.
        reason: String,
    },
    /// A member has ended.
    Ended {
        /// The result of the member.
        result: MemberReport,
    },
    /// The fleet ends before its strategy has finished; running members are stopped.
    CutShort {
        /// The reason.
        reason: CutShort,
    },
    /// The fleet has ended.
    Finished {
        /// Whether it succeeded.
        success: bool,
        /// The winning member, if there is one.
        winner: Option<MemberId>,
    },
}

/// Receives the events of a fleet, in order.
///
/// An observer must not block. Its panics are caught and logged. Any closure is an observer:
///
/// ```
/// use autonoe_harness::{FleetEvent, FleetObserver};
///
/// fn takes(observer: impl FleetObserver) {}
///
/// takes(|event: &FleetEvent| tracing::info!(?event.kind, "fleet"));
/// ```
pub trait FleetObserver: Send + Sync {
    /// Receives an event.
    fn on_event(&self, event: &FleetEvent);
}

#[deny(clippy::missing_trait_methods)]
impl<O: FleetObserver + ?Sized> FleetObserver for Arc<O> {
    fn on_event(&self, event: &FleetEvent) {
        (**self).on_event(event);
    }
}

impl<F: Fn(&FleetEvent) + Send + Sync> FleetObserver for F {
    fn on_event(&self, event: &FleetEvent) {
        self(event);
    }
}

/// Sends an event to all observers. A panic of an observer is logged.
pub(super) fn notify(observers: &[Arc<dyn FleetObserver>], event: &FleetEvent) {
    for observer in observers {
        let result = catch_unwind(AssertUnwindSafe(|| observer.on_event(event)));
        if result.is_err() {
            tracing::error!(fleet = %event.fleet, "an observer of the fleet panicked");
        }
    }
}
