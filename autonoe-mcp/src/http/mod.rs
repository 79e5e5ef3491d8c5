//! Tools over streamable HTTP, on this machine only.

mod door;
mod exchange;
mod listener;
mod response;
mod server;
mod sessions;

pub use listener::HttpLimits;
pub use server::HttpToolServer;
