//! How a turn ended, decided from all that is known at its end. Pure.

mod decide;

pub(crate) use decide::{Ending, decide};
