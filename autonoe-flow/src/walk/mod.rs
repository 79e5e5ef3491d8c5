//! Graph of a flow's steps, in which every outcome of a step is possible.

mod edges;
mod effort;
mod explore;

pub(crate) use edges::{
    EdgeKind, Reached, edges, escalation_step, escalation_steps, reachable, reachable_steps,
    steps_within, targets,
};
pub(crate) use effort::max_iterations_and_checks;
pub(crate) use explore::{Formula, Verdict, explore};
