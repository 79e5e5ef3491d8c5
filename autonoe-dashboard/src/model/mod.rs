//! Data model of the views: a snapshot of a fleet.

mod dashboard;
mod format;
mod member_row;

pub use dashboard::{Dashboard, FleetPhase, Progress, Totals, schemas};
pub use format::{format_cost, format_tokens};
pub use member_row::{AlertLine, AlertSeverity, MemberRow, MemberRowId, MemberRowStatus};
