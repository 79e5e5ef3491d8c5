//! Tool server over streamable HTTP, reachable from this machine only.

mod auth;
mod handler;
mod server;
mod sessions;

pub use server::HttpToolServer;
pub use sessions::HttpLimits;
