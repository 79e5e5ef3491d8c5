//! MCP servers of a session: external programs whose tools the model can call.
//!
//! A server with a command is a child process, started before the first prompt and ended with the
//! session, including all of its children. It runs **outside** of Bash's sandbox, with the rights
//! of this program, like the servers of Claude Code: a browser or a database client could not work
//! inside. The session's gate decides on every call of its tools. A server with a URL is connected
//! over streamable HTTP.

mod connection;
mod http;
mod launch;
mod listing;
mod options;
mod servers;
mod tool;
mod transport;

pub use options::McpOptions;

pub(crate) use launch::check_servers;
pub(crate) use servers::Servers;
