//! Fleets, whose members are child workflows.

// The macros of the SDK generate public items for each workflow.
#![allow(unreachable_pub, missing_docs, missing_debug_implementations)]

mod members;
mod workflow;

pub(crate) use workflow::{FleetWorkflow, MAX_MEMBERS};
