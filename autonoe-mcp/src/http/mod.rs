//! Tools over streamable HTTP, on this machine only.

mod clients;
mod door;
mod exchange;
mod limits;
mod listener;
mod response;
mod server;
mod sessions;
mod stream;

pub use limits::HttpLimits;
pub use server::HttpToolServer;
