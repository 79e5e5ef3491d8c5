//! Tool server over streamable HTTP, reachable from this machine only.

mod auth;
mod handler;
mod listener;
mod response;
mod server;
mod sessions;

pub use listener::HttpLimits;
pub use server::HttpToolServer;
