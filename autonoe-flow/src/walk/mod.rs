//! Graph of a flow's steps, in which every outcome of a step is possible.

mod edges;
mod effort;
mod explore;
mod node;

pub(crate) use edges::{Edge, EdgeKind, edges, escalation_step, escalation_steps, reachable_steps};
pub(crate) use effort::{max_iterations_and_checks, steps_within};
pub(crate) use explore::{Formula, Verdict, explore};
