//! Errors of fleet orders and fleet runs.

use autonoe_core::event::InvalidValue;

use crate::coordinate::CoordinationError;
use crate::folder::FolderError;
use crate::isolation::IsolationError;
use crate::state::StateError;

/// Error of a fleet run. Running members continue, and the next run of the same order finds them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetRunError {
    /// The order is invalid.
    #[error(transparent)]
    Order(#[from] FleetOrderError),
    /// Another live process leads the fleet.
    #[error(
        "{} already runs the fleet {fleet}",
        pid.map_or("another process".to_owned(), |pid| format!("process {pid}"))
    )]
    AlreadyLed {
        /// The fleet.
        fleet: String,
        /// The process ID, if it is known.
        pid: Option<u32>,
    },
    /// A fleet of that name with another order exists.
    #[error(
        "a fleet {fleet} with another order already exists; choose another name, or use the same \
         order to resume it"
    )]
    OrderConflict {
        /// The fleet.
        fleet: String,
    },
    /// A value that no fleet can work with.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A file cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// The state of the fleets cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The coordination of the members failed.
    #[error(transparent)]
    Coordination(#[from] CoordinationError),
    /// Worktrees cannot be inspected.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
}

impl FleetRunError {
    /// Returns a stable code of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Order(_) => "bad_order",
            Self::AlreadyLed { .. } => "led",
            Self::OrderConflict { .. } => "another_order",
            Self::InvalidValue(_) => InvalidValue::CODE,
            Self::Folder(error) => error.code(),
            Self::State(_) => "state",
            Self::Coordination(_) => "coordination",
            Self::Isolation(_) => "isolation",
        }
    }
}

/// Error of an order that cannot be executed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the order of the fleet {fleet:?} is invalid: {}", problems.join("; "))]
#[non_exhaustive]
pub struct FleetOrderError {
    /// The fleet.
    pub fleet: String,
    /// All problems of the order.
    pub problems: Vec<String>,
}

impl FleetOrderError {
    pub(super) fn new(fleet: &str, problems: Vec<String>) -> Self {
        let fleet = fleet.to_owned();
        Self { fleet, problems }
    }

    pub(super) fn not_serialised(fleet: &str, error: &serde_json::Error) -> Self {
        Self::new(fleet, vec![format!("cannot serialise it: {error}")])
    }
}
