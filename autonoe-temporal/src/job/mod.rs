//! Jobs of any kind, each executed by one activity.

// The macros of the SDK generate public items for each workflow and activity.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod activity;
mod workflow;

pub(crate) use activity::{JobActivities, Runners};
pub(crate) use workflow::JobWorkflow;
