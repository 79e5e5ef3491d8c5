//! Runs of any kind: one activity that calls what carries them out.

// The macros of the SDK make public items beside each workflow and activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod activity;
mod letting_go;
mod runners;
mod telling;
mod workflow;

pub(crate) use activity::JobActivities;
pub(crate) use letting_go::is_cancelled_by_somebody;
pub(crate) use runners::Runners;
pub(crate) use workflow::JobWorkflow;
