//! What views show: a snapshot of a fleet, as data.

mod alert;
mod dashboard;
mod member;
mod progress;
mod totals;
mod words;

pub use alert::{AlertLine, AlertSeverity};
pub use dashboard::{Dashboard, FleetPhase, schemas};
pub use member::{Member, MemberId, MemberStatus};
pub use progress::Progress;
pub use totals::Totals;
pub use words::{cost_words, token_words};
