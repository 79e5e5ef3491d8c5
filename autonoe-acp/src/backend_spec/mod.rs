//! Agents of the protocol from a configuration file.

mod acp;
mod gemini;
mod probe;

pub use acp::AcpBackend;
pub use gemini::GeminiBackend;
