//! MCP server for the tools of Autonoe, for agents that cannot host tools in-process.
//!
//! On every transport, the session's [`Toolbox`](autonoe_core::tool::Toolbox) executes the call in
//! the process of the run. The toolbox validates arguments, only the run's process writes the
//! ledger, and a call is cancelled when its client disconnects.
//!
//! In a run, pass the server to `SessionRunnerBuilder::tool_server`. Each session then uses the
//! server as in this example:
//!
//! ```
//! use autonoe_core::RunId;
//! use autonoe_core::time::SessionKey;
//! use autonoe_core::tool::{McpServer, ToolServer, Toolbox};
//! use autonoe_mcp::HttpToolServer;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = HttpToolServer::new();
//!     let session = SessionKey { run: RunId::new("run"), number: 1 };
//!
//!     let served = server.serve(&session, Toolbox::new([])).await?;
//!
//!     let McpServer::Remote { url, headers, .. } = &served.server else {
//!         panic!("expected a remote server");
//!     };
//!     assert!(url.starts_with("http://127.0.0.1:"));
//!     assert!(headers["Authorization"].starts_with("Bearer "));
//!     Ok(())
//! }
//! ```
//!
//! | agent | item |
//! | --- | --- |
//! | connects to MCP servers by URL | [`HttpToolServer`]: streamable HTTP on this machine, one secret per session |
//! | starts MCP servers as commands | [`HttpToolServer::by_command`] and the command `autonoe mcp`, which runs [`bridge_stdio`] |
//! | shares two pipes with this process | [`serve_stdio`] |
//!
//! | item | purpose |
//! | --- | --- |
//! | [`HttpLimits`] | limits of the HTTP server: sizes of messages and headers, connections, time |
//! | [`TOKEN_VARIABLE`] | the environment variable with the secret of a session, for [`bridge_stdio`] |
//! | [`BridgeError`] | the errors of [`bridge_stdio`] |
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
