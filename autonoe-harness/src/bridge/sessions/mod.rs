//! Single sessions that another program carries out.

mod conversation;
mod host;
mod serving;
mod wire;

pub use host::ProgramSessionHost;
pub use serving::{ServedSession, serve_session_host};
