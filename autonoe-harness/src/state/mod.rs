//! What is kept of a harness and of its coordinator, through crashes.

mod claim;
mod error;
mod event;
mod memory;
mod meta;
mod plan;
mod port;
mod records;
#[cfg(feature = "sqlite")]
mod sqlite;
mod task;

pub use claim::{AttemptEnding, AttemptRecord, Claim, Claimant, TaskEnd, TaskUpdate};
pub use error::StateError;
pub use event::{Cursor, HarnessEvent, NewHarnessEvent};
pub use memory::{MemoryMeta, MemoryState};
pub use meta::{DecisionRecord, FleetLead, FleetPlan, FleetRecord, MetaState};
pub use plan::{HarnessPlan, TaskPlan};
pub use port::StateStore;
pub use records::{ExecutionRecord, HarnessRecord, ProgressSample};
#[cfg(feature = "sqlite")]
pub use sqlite::{SqliteMeta, SqliteState};
pub use task::{StoredTask, TaskStatus};
