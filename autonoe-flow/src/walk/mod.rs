//! The ways through the steps of a flow, with every choice taken as free.

mod edges;
mod effort;
mod explore;
mod formula;
mod happened;
mod node;

pub(crate) use edges::{Edge, EdgeKind, called, calls, edges, reach};
pub(crate) use effort::{most_that_happens, steps_within};
pub(crate) use explore::{Verdict, explore};
pub(crate) use formula::Formula;
