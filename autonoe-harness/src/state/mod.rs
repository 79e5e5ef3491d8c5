//! Durable state of a member and of its fleet, in SQLite.

mod error;
mod fleet_record;
mod sqlite_meta;
mod sqlite_state;
mod stored_task;

pub use error::StateError;
pub use fleet_record::{DecisionRecord, FleetPlan, FleetRecord, LeaderToken};
pub use sqlite_meta::SqliteMeta;
pub use sqlite_state::SqliteState;
pub(crate) use sqlite_state::TaskChange;
pub use stored_task::{ExecutionRecord, MemberPlan, StoredTask, TaskStatus, TaskUpdate};
