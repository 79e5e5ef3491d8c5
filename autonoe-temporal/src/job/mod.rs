//! Runs of any kind: one activity that calls what carries them out.

// The macros of the SDK make public items beside each workflow and activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod activity;
mod runners;
mod telling;
mod workflow;

pub(crate) use activity::JobActivities;
pub(crate) use runners::Runners;
pub(crate) use workflow::JobWorkflow;
