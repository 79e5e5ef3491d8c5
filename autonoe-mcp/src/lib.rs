//! MCP server for the tools of Autonoe, for agents that cannot host tools in-process.
//!
//! | agent | item |
//! | --- | --- |
//! | connects to MCP servers by URL | [`HttpToolServer`]: streamable HTTP on this machine, one secret per session |
//! | starts MCP servers as commands | [`HttpToolServer::by_command`] and the command `autonoe mcp`, which runs [`bridge_stdio`] |
//! | shares two pipes with this process | [`serve_stdio`] |
//!
//! On every transport, the session's [`Toolbox`](autonoe_core::tool::Toolbox) executes the call in
//! the process of the run. The toolbox validates arguments, only the run's process writes the
//! ledger, and a call is cancelled when its client disconnects.
//!
//! The protocol types come from the crate `rmcp`. Its service loops are not used, because they log
//! the arguments and results of tool calls.

mod http;
mod protocol;
mod stdio;
mod token;
mod tools;

pub use http::{HttpLimits, HttpToolServer};
pub use stdio::{BridgeError, TOKEN_VARIABLE, bridge_stdio, serve_stdio};
