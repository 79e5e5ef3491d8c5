//! What the host sends.

mod answer;
mod line;
mod request;

pub use line::OutgoingLine;
pub use request::{HookMatcher, Initialize, OnHookFailure, PermissionMode, Request};
