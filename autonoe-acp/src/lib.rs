//! Backend of Autonoe for agents of the Agent Client Protocol, including Gemini CLI.
//!
//! [`AcpBackend`] drives any program that implements version 1 of the protocol over its pipes. Its
//! permission requests go to our gate, and our tools are offered to it as an MCP server. **The
//! agent chooses the calls that it requests permission for**, so a run needs an outer sandbox: the
//! program runs in bubblewrap, as [`SandboxConfig`](autonoe_backend::SandboxConfig) configures it.
//! There, the project is writable and everything else is read-only.
//!
//! [`AcpOptions::gemini`] handles the specifics of Gemini CLI: its home, its settings, its tool
//! names, and turns that it reports as finished although the answer of its model is incomplete.
//!
//! Internally, `wire`, `events` and `outcome` are pure: the messages, their translation to events,
//! and the outcome of a turn. `launch` builds arguments and files from options. `session` owns the
//! program and communicates with it through the crate `agent-client-protocol`.

mod backend;
mod backend_spec;
mod events;
mod launch;
mod outcome;
mod probe;
mod session;
mod wire;

pub use backend::AcpBackend;
pub use backend_spec::{AcpSpec, GeminiSpec};
pub use launch::{AcpOptions, HomeFolder};
