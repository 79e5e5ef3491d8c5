//! MCP transport over a pair of pipes.

mod bridge;
mod lines;
mod serve;

pub use bridge::{BridgeError, TOKEN_VARIABLE, bridge_stdio};
pub use serve::serve_stdio;
