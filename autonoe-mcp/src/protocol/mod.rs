//! MCP protocol between an agent and its tools, independent of the transport.

mod message;
mod request_handler;

pub(crate) use message::{Incoming, error_response, parse_message};
pub(crate) use request_handler::{Call, Calls, Reply, RequestHandler, VERSIONS};
