//! Messages of the host.

mod answer;
mod request;

pub use answer::OutgoingLine;
pub use request::{HookMatcher, Initialize, OnHookFailure, PermissionMode, Request};
