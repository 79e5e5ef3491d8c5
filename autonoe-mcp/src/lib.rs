//! The tools of Autonoe as an MCP server, for agents that cannot host them in-process.
//!
//! | an agent that | gets |
//! | --- | --- |
//! | knows MCP servers by address | [`HttpToolServer`]: streamable HTTP on this machine, a secret for each session |
//! | knows them by command only | [`HttpToolServer::by_command`], and the command `autonoe mcp`, which is [`bridge_stdio`] |
//! | shares two pipes with this process | [`serve_stdio`] |
//!
//! Whichever way a call comes, the session's [`Toolbox`](autonoe_core::Toolbox) answers it, in the
//! process of the run: arguments are checked, the ledger is written by who may write it, and a
//! call that nobody waits for any more is cancelled.
//!
//! The objects of the protocol are those of the crate `rmcp`. Its loops are not used: they write
//! what tools are asked and answer into the log.

mod http;
mod stdio;
mod talk;
mod token;
mod tools;

pub use http::{HttpLimits, HttpToolServer};
pub use stdio::{BridgeError, TOKEN_VARIABLE, bridge_stdio, serve_stdio};
