//! MCP representation of tools and their results.

mod content;
mod flat_schema;
mod listing;

pub(crate) use content::{failed, success_result};
pub(crate) use flat_schema::flatten;
pub(crate) use listing::mcp_tool;
