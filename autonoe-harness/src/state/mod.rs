//! Durable state of a member and of its fleet, in SQLite.

mod error;
mod sqlite_meta;
mod sqlite_state;

pub use error::StateError;
pub use sqlite_meta::{DecisionRecord, FleetRecord, LeaderToken, SqliteMeta};
pub(crate) use sqlite_state::TaskChange;
pub use sqlite_state::{
    ExecutionRecord, MemberPlan, SqliteState, StoredTask, TaskStatus, TaskUpdate,
};
