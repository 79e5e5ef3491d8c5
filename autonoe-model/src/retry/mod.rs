//! Retries of failed model calls.

mod policy;
mod retrying;

pub use policy::{RetryPolicy, Verdict};
pub use retrying::Retrying;
