//! A flow as a picture.

mod dot;
mod mermaid;
mod model;

pub use model::FlowGraph;
