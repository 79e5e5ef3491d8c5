//! Our tools as an MCP server, spoken through the control talk.
//!
//! The server keeps nothing between two messages: one build of the program
//! sends `initialize` twice at once with the same JSON-RPC ids. Whoever calls pairs
//! questions and answers by the id of the control request.

mod content;
mod server;

pub(crate) use server::{Incoming, McpServer, ToolCallRequest, refusal};
