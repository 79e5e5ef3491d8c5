//! The ways through the steps of a flow, with every choice taken as free.

mod edges;
mod effort;
mod explore;
mod node;

pub(crate) use edges::{Edge, EdgeKind, called, calls, edges, reach};
pub(crate) use effort::{Formula, most_that_happens, steps_within};
pub(crate) use explore::{Verdict, explore};
