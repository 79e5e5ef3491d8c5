//! MCP servers of a session: other programs whose tools the model can call.
//!
//! A server that is named by a command is a child that leaves nothing behind, started before the
//! first prompt and ended with the session. It runs **outside** the sandbox of Bash, with the rights of this program, as
//! the servers of Claude Code do: a browser or a database client could not work in there. What
//! its tools may be called for is decided by the session's gate, call by call. A server that is
//! named by an address is reached over streamable HTTP.

mod connection;
mod content;
mod failure;
mod http;
mod launch;
mod lines;
mod listing;
mod options;
mod server;
mod servers;
mod sifted;
mod tool;

pub use options::McpOptions;

pub(crate) use launch::check_servers;
pub(crate) use servers::Servers;
