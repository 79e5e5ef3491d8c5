//! Runs that are driven session by session, by the run machine in a workflow.

// The macros of the SDK generate public items for each workflow and activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod activities;
mod input;
mod machine;
mod workflow;

pub(crate) use activities::SessionActivities;
pub use activities::SessionHosts;
pub use autonoe_core::engine::{SESSIONS_JOB, SessionsRun};
pub(crate) use input::{CarriedState, SessionsInput};
pub(crate) use workflow::{SessionsWorkflow, progress};
