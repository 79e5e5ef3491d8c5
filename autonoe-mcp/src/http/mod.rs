//! Tool server over streamable HTTP, reachable from this machine only.

mod auth;
mod handler;
mod limits;
mod listener;
mod server;
mod sessions;

pub use limits::HttpLimits;
pub use server::HttpToolServer;
