//! The tables of the specification, in the order of the design.

mod deprecated_deliverables;
mod errors;
mod facts;
mod instructions;
mod other_limits;
mod persons;
mod session_loop;
mod stalled_sessions;
mod sync;
mod termination;

use super::*;
use crate::domain::{Budget, BudgetKind, QuotaBackoff};
