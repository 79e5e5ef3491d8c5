//! The five deliverable tools.

pub(crate) mod create;
pub(crate) mod deprecate;
pub(crate) mod list;
pub(crate) mod set_status;
mod tool_set;
pub(crate) mod verify;

pub(crate) use tool_set::DELIVERABLE_TOOLS;
pub use tool_set::deliverable_tools;
