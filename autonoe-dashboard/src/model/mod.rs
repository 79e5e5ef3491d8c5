//! Data model of the views: a snapshot of a fleet.

mod alert;
mod dashboard;
mod format;
mod member_row;
mod progress;
mod totals;

pub use alert::{AlertLine, AlertSeverity};
pub use dashboard::{Dashboard, FleetPhase, schemas};
pub use format::{format_cost, format_tokens};
pub use member_row::{MemberRow, MemberRowId, MemberRowStatus};
pub use progress::Progress;
pub use totals::Totals;
