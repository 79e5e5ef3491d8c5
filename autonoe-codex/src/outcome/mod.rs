//! How a turn ended.

mod decide;
mod ending;

pub use decide::decide;
pub use ending::{Ending, HostAction};
