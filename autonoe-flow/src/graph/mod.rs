//! Renders a flow as a diagram.

mod dot;
mod mermaid;
mod model;

pub use model::FlowGraph;
