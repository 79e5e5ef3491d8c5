//! Translation of messages into events.
//!
//! [`Translator`] makes [`StreamEvent`](autonoe_core::StreamEvent)s of messages.
//! It keeps [`Turns`], which know whether a turn is under way, which tasks live
//! and whether the session is over, [`Spending`], which makes what a turn cost
//! out of what the process has cost so far, and the calls that have no result yet.
//! [`Busy`] shows people what the program does while it says nothing, [`ModelCalls`] the answers
//! of the model as they come.

mod calls;
mod model_calls;
mod spending;
mod tasks;
mod translator;
mod turns;

pub use model_calls::ModelCalls;
pub use spending::{Spending, Spent};
pub use tasks::{Busy, Task, Tasks};
pub use translator::{Finished, Translator};
pub use turns::{Standing, Turns};
