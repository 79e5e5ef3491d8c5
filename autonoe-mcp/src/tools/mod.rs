//! Tools and what they give, as MCP tells them.

mod content;
mod flat_schema;
mod listing;

pub(crate) use content::{failed, gave};
pub(crate) use flat_schema::flat;
pub(crate) use listing::listed;
