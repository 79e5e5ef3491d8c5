//! What is told of a fleet while it works.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use autonoe_core::RunId;
use jiff::Timestamp;
use serde::Serialize;

use super::CutShort;
use crate::{HarnessId, HarnessResult};

/// Something that happened in a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FleetEvent {
    /// The fleet.
    pub fleet: String,
    /// When.
    pub at: Timestamp,
    /// What.
    #[serde(flatten)]
    pub kind: FleetEventKind,
}

/// What happened in a fleet.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum FleetEventKind {
    /// The fleet begins.
    Began {
        /// The `type` of its strategy.
        strategy: String,
        /// Its members, in their order.
        members: Vec<HarnessId>,
    },
    /// A member was started.
    Started {
        /// Who.
        member: HarnessId,
        /// Its run.
        run: RunId,
    },
    /// The run of a member was there already: a coordinator before this one had started it.
    FoundAgain {
        /// Who.
        member: HarnessId,
        /// Its run.
        run: RunId,
        /// Whether its run has ended. Its end follows at once, and an earlier coordinator may have
        /// reported it.
        has_ended: bool,
    },
    /// A member cannot be paid now, and waits until others return something.
    WaitsForMoney {
        /// Who.
        member: HarnessId,
        /// What is missing, for people.
        why: String,
    },
    /// Nobody is started until the fleet is resumed; members at work are told to hold.
    Paused,
    /// The fleet goes on.
    Resumed,
    /// A member is told to stop.
    Stopping {
        /// Who.
        member: HarnessId,
        /// Why, for people.
        why: String,
    },
    /// A member has ended.
    Ended {
        /// What it came to.
        result: HarnessResult,
    },
    /// The fleet ends before its strategy is done; members under way are stopped.
    CutShort {
        /// Why.
        reason: CutShort,
    },
    /// The fleet has ended.
    Finished {
        /// Whether it succeeded.
        success: bool,
        /// Whose result counts, where one does.
        winner: Option<HarnessId>,
    },
}

/// Is told what happens in a fleet, in the order in which it does.
///
/// It must not wait; a panic of it is caught and forgotten. Any closure will do:
///
/// ```
/// use autonoe_harness::{FleetEvent, FleetObserver};
///
/// fn takes(observer: impl FleetObserver) {}
///
/// takes(|event: &FleetEvent| tracing::info!(?event.kind, "fleet"));
/// ```
pub trait FleetObserver: Send + Sync {
    /// Takes notice of an event.
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

/// Tells all observers.
pub(super) fn tell(observers: &[Arc<dyn FleetObserver>], event: &FleetEvent) {
    for observer in observers {
        let told = catch_unwind(AssertUnwindSafe(|| observer.on_event(event)));
        if told.is_err() {
            tracing::error!(fleet = %event.fleet, "an observer of the fleet panicked");
        }
    }
}
