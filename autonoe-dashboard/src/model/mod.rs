//! Data model of the views: a snapshot of a fleet.

mod dashboard;
mod format;
mod member_row;
mod progress;

pub use dashboard::{Dashboard, FleetPhase, Totals, schemas};
pub use format::{format_cost, format_tokens};
pub use member_row::{AlertLine, AlertSeverity, MemberRow, MemberRowId, MemberRowStatus};
pub use progress::Progress;
