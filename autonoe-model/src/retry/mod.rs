//! Retries of failed model calls.

mod policy;
mod retrying;

pub use policy::{RetryDecision, RetryPolicy};
pub use retrying::Retrying;
