//! The task loop: what one member of a fleet does.

mod account;
mod attempt;
mod decide;
mod event;
mod explore;
mod iterate;
mod journal;
mod messages;
mod order;
mod task_loop;

pub use decide::{GivenUp, Iterated, NextStep, next_step};
pub use event::{NoWorkObserver, ToldMessage, WorkEvent, WorkObserver};
pub use journal::WorkJournal;
pub use order::{Isolation, WhenDone, WorkOrder};
pub use task_loop::TaskLoop;
