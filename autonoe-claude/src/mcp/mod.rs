//! MCP server for our tools, over the control protocol of the program.
//!
//! The server is stateless: one build of the program sends `initialize` twice at once with the same
//! JSON-RPC ids. The caller matches requests and answers by the id of the control request.

mod content;
mod server;

pub(crate) use server::{Incoming, McpServer, ToolCallRequest, refusal};
