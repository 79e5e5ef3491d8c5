//! Translation of messages to stream events.
//!
//! [`Translator`] converts messages to [`StreamEvent`](autonoe_core::StreamEvent)s. It tracks
//! [`Turns`], which know whether a turn is running, which tasks are alive and whether the session
//! is over; `UsageTracker`, which computes the cost of a turn from the total of the process; and the
//! calls without a result. [`ActivityTracker`] reports the progress of the program while it is silent, and
//! [`ModelCalls`] reports the answers of the model as they are streamed.

mod tasks;
mod translator;
mod turns;
mod usage_tracker;

pub use tasks::{ActivityTracker, Task, Tasks};
pub use translator::{FinishedSession, Translator};
pub use turns::{SessionPhase, Turns};
pub use usage_tracker::{ModelCalls, TurnCost, UsageTracker};
