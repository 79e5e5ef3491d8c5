//! Outcome of a turn, decided from the evidence at its end.

mod decide;

pub use decide::{Ending, HostAction, decide};
