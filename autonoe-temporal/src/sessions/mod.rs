//! Runs that are driven session by session, by the run machine in a workflow.

// The macros of the SDK make public items beside each workflow and activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod activities;
mod calls;
mod driving;
mod ending;
mod hosts;
mod spec;
mod workflow;

pub(crate) use activities::SessionActivities;
pub use hosts::SessionHosts;
pub use spec::{SESSIONS_JOB, SessionsRun};
pub(crate) use workflow::{SessionsBegin, SessionsWorkflow};
