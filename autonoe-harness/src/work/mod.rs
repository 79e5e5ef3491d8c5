//! Task loop: runs the tasks of one member until they are verified.

mod attempt;
mod conversation;
mod decide;
mod event;
mod explore;
mod journal;
mod messages;
mod order;
mod state;
mod task_loop;
mod turn;

pub use decide::{IterationState, NextStep, TaskFailure, next_step};
pub use event::{DeliveredMessage, WorkEvent};
pub use journal::{WorkJournal, WorkObserver};
pub use order::{Isolation, WhenDone, WorkOrder};
pub use state::RecoveredState;
pub use task_loop::TaskLoop;
#[cfg(feature = "sqlite")]
pub(crate) use task_loop::invalid_order;
