//! How a turn ended.

mod decide;

pub use decide::{Ending, HostAction, decide};
