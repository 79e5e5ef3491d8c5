//! Agents of the protocol from a configuration file.

mod acp;
mod gemini;

pub use acp::AcpBackend;
pub use gemini::GeminiBackend;
