//! Tools over a pair of pipes.

mod bridge;
mod bridge_error;
mod bridge_request;
mod lines;
mod mouth;
mod serve;

pub use bridge::{TOKEN_VARIABLE, bridge_stdio};
pub use bridge_error::BridgeError;
pub use serve::serve_stdio;
