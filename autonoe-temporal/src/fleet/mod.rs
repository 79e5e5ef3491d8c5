//! Fleets: members are workflows below that of the fleet.

// The macros of the SDK make public items beside each workflow.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod begin;
mod fitting;
mod members;
mod workflow;

pub(crate) use begin::{FleetBegin, MOST_MEMBERS};
pub(crate) use workflow::FleetWorkflow;
