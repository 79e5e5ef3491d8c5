//! Fleets, whose members are child workflows.

// The macros of the SDK generate public items for each workflow.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod input;
mod members;
mod shrink_report;
mod workflow;

pub(crate) use input::{FleetInput, MAX_MEMBERS};
pub(crate) use workflow::FleetWorkflow;
