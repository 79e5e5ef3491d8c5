//! Runs that are driven session by session, by the run machine in a workflow.

// The macros of the SDK make public items beside each workflow and activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod activities;
mod begin;
mod calls;
mod carrying;
mod course;
mod ending;
mod hosts;
mod losses;
mod workflow;

pub(crate) use activities::SessionActivities;
pub use autonoe_core::{SESSIONS_JOB, SessionsRun};
pub(crate) use begin::{Carried, SessionsBegin};
pub(crate) use ending::progress;
pub use hosts::SessionHosts;
pub(crate) use workflow::SessionsWorkflow;
