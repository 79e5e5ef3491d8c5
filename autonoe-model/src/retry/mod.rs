//! Another try, after a wait.

mod policy;
mod retrying;

pub use policy::{RetryPolicy, Verdict};
pub use retrying::Retrying;
