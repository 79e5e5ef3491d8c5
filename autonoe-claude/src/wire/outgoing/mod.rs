//! What the host sends.

mod answer;
mod request;

pub use answer::OutgoingLine;
pub use request::{HookMatcher, Initialize, OnHookFailure, PermissionMode, Request};
