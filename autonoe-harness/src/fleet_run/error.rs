//! Why a fleet cannot be run.

use autonoe_core::InvalidValue;

use super::FleetOrderError;
use crate::{CoordinationError, FolderError, IsolationError, StateError};

/// Why a fleet cannot be run, or not be gone on with. What its members do goes on, and the next
/// run of the same order finds it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetRunError {
    /// The order cannot be carried out.
    #[error(transparent)]
    Order(#[from] FleetOrderError),
    /// Another process that lives leads the fleet.
    #[error("the fleet {fleet} is led by {}", pid.map_or("another process".to_owned(), |pid| format!("process {pid}")))]
    Led {
        /// The fleet.
        fleet: String,
        /// The process, if it is known.
        pid: Option<u32>,
    },
    /// There is a fleet of that name with another order.
    #[error(
        "there is a fleet {fleet} already, and it was to do something else; \
         give this one another name, or the same order to go on with that one"
    )]
    AnotherOrder {
        /// The fleet.
        fleet: String,
    },
    /// A value with which no fleet could be led.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// A file cannot be read or written.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// What is kept of fleets cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// The members could not be led.
    #[error(transparent)]
    Coordination(#[from] CoordinationError),
    /// What is left of worktrees cannot be looked at.
    #[error(transparent)]
    Isolation(#[from] IsolationError),
}

impl FleetRunError {
    /// Returns a name of the kind for programs to compare, which stays as it is.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Order(_) => "bad_order",
            Self::Led { .. } => "led",
            Self::AnotherOrder { .. } => "another_order",
            Self::InvalidValue(_) => InvalidValue::CODE,
            Self::Folder(error) => error.code(),
            Self::State(_) => "state",
            Self::Coordination(_) => "coordination",
            Self::Isolation(_) => "isolation",
        }
    }
}
