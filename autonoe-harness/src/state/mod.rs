//! Durable state of a member and of its fleet, in SQLite.

mod meta;
mod sqlite_meta;
mod sqlite_state;
mod store;

pub use meta::{DecisionRecord, FleetPlan, FleetRecord, LeaderToken, MetaState};
pub use sqlite_meta::SqliteMeta;
pub use sqlite_state::SqliteState;
pub(crate) use sqlite_state::TaskChange;
pub use store::{
    ExecutionRecord, MemberPlan, StateError, StateStore, StoredTask, TaskStatus, TaskUpdate,
};
