//! Outcome of a turn: a pure function of the evidence at its end.

mod decide;

pub(crate) use decide::{Ending, decide};
