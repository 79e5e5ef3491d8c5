//! Tables of the specification, in the order of the design.

mod deprecated_deliverables;
mod errors;
mod facts;
mod instructions;
mod limit_overrides;
mod operator;
mod session_loop;
mod stalled_sessions;
mod sync;
mod termination;

use super::*;
use crate::agent::{Budget, BudgetKind};
use crate::run::QuotaBackoff;
