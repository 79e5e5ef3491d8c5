//! A flow as a picture.

mod dot;
mod layout;
mod mermaid;
mod model;
mod svg;

pub use model::FlowGraph;
