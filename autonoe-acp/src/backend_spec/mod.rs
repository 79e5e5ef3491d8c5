//! Agents of the protocol from a configuration file.

mod acp;
mod gemini;
mod sandbox;

pub use acp::AcpBackend;
pub use gemini::GeminiBackend;
pub use sandbox::SandboxSpec;
