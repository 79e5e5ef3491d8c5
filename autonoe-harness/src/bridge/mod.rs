//! Ports of core that another program stands behind, talked to in lines of JSON over a pipe.

mod asked;
mod engine;
mod error;
mod hello;
mod lines;
mod program;
mod sessions;

pub use engine::{ProgramEngine, serve_engine};
pub use error::BridgeError;
pub use program::PipedProgram;
pub use sessions::{ProgramSessionHost, ServedSession, serve_session_host};
