//! What is to be done next for a fleet.

use autonoe_core::{Placement, RunId, RunSpec};
use jiff::Timestamp;

use crate::{FleetReport, HarnessId};

/// What is to be done next for a fleet, and what its [`FleetCourse`](super::FleetCourse) is to be
/// told of it.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum FleetStep {
    /// Submit the run of a member. Answer with [`began`](super::FleetCourse::began), and tell the run
    /// what that returns, or with [`not_started`](super::FleetCourse::not_started).
    Start {
        /// Who.
        member: HarnessId,
        /// Its run.
        run: RunSpec,
        /// Where.
        place: Placement,
    },
    /// Cancel the run of a member. Answer with [`stopped`](super::FleetCourse::stopped), whatever
    /// came of it; that it has ended is told by its run.
    Stop {
        /// Who.
        member: HarnessId,
        /// Its run.
        run: RunId,
        /// Why, for people.
        why: String,
    },
    /// Wait until a member ends, somebody asks for something, or it is so late.
    Wait {
        /// When there is something to do even if nothing happens.
        until: Option<Timestamp>,
    },
    /// All is over.
    Finish(Box<FleetReport>),
}
