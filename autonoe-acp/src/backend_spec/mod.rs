//! Descriptions of ACP agents in a configuration file.

mod acp;
mod gemini;
mod probe;

pub use acp::AcpSpec;
pub use gemini::GeminiSpec;
