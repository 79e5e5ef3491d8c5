//! What the process of a sub-harness does: carry out its order, and listen to its folder.

mod served;
mod serving;
mod too_late;

pub use serving::{ServeOutcome, Serving};

pub(crate) use serving::panicked;
