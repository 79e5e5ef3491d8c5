//! Messages of the host: answers and requests.

mod answer;
mod request;

pub use answer::OutgoingLine;
pub use request::{HookMatcher, Initialize, OnHookFailure, Request};
