//! The task loop: what one member of a fleet does.

mod account;
mod attempt;
mod conversation;
mod decide;
mod event;
mod explore;
mod iterate;
mod journal;
mod messages;
mod order;
mod passed_checks;
mod so_far;
mod task_loop;
mod task_so_far;
mod way_tree;

pub use decide::{GivenUp, Iterated, NextStep, next_step};
pub use event::{NoWorkObserver, ToldMessage, WorkEvent, WorkObserver};
pub use journal::WorkJournal;
pub use order::{Isolation, WhenDone, WorkOrder};
pub use so_far::WorkSoFar;
pub use task_loop::TaskLoop;
