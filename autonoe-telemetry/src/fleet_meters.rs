//! [`FleetMeters`]: metrics of fleets.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use autonoe_harness::strategy::MemberId;
use autonoe_harness::{FleetEvent, FleetEventKind, FleetObserver};
use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};

/// Counts the members of a fleet that ended, and measures their durations.
///
/// A resumed fleet reports the members that ended before once more. These are not counted again.
pub struct FleetMeters {
    members: Counter<u64>,
    durations: Histogram<f64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    stopping: HashSet<MemberId>,
    ended_before: HashSet<MemberId>,
}

impl FleetMeters {
    /// Creates the instruments in `meter`.
    pub fn new(meter: &Meter) -> Self {
        Self {
            members: meter
                .u64_counter("autonoe.members")
                .with_unit("{member}")
                .with_description("Members of fleets that ended, by outcome")
                .build(),
            durations: meter
                .f64_histogram("autonoe.member.duration")
                .with_unit("s")
                .with_description("Duration of the work of fleet members, by outcome")
                // From a second to six days.
                .with_boundaries((0..20).map(|power| 2_f64.powi(power)).collect())
                .build(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FleetObserver for FleetMeters {
    fn on_event(&self, event: &FleetEvent) {
        match &event.kind {
            FleetEventKind::RunFound {
                member,
                has_ended: true,
                ..
            } => {
                self.state().ended_before.insert(member.clone());
            }
            FleetEventKind::Stopping { member, .. } => {
                self.state().stopping.insert(member.clone());
            }
            FleetEventKind::Ended { result } => {
                let state = self.state();
                if state.ended_before.contains(&result.id) {
                    return;
                }
                let outcome = match (result.success, state.stopping.contains(&result.id)) {
                    (true, _) => "succeeded",
                    (false, true) => "stopped",
                    (false, false) => "failed",
                };
                let outcome = [KeyValue::new("autonoe.member.outcome", outcome)];
                self.members.add(1, &outcome);
                self.durations
                    .record(result.duration.as_secs_f64(), &outcome);
            }
            _ => {}
        }
    }
}

impl fmt::Debug for FleetMeters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetMeters").finish_non_exhaustive()
    }
}
