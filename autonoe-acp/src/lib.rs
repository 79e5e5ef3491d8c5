//! Agents that speak the Agent Client Protocol as backends of Autonoe, Gemini CLI among them.
//!
//! [`AcpAgents`] drives any program that speaks version 1 of the protocol over its pipes. What it
//! asks about is put to our gate, and our tools reach it as an MCP server. **It asks only about
//! what it chooses to**, so a run on it needs an outer sandbox: [`Walls`](autonoe_backend::Walls) start the program in
//! bubblewrap, where the project can be written and everything else only read.
//!
//! [`AcpOptions::gemini`] knows what is special about Gemini CLI: its home, its settings, how it
//! names its tools, and that it reports a turn as finished although the answer of its model is
//! incomplete.
//!
//! Inside, `wire`, `events` and `outcome` are pure: what is told, what it means as it comes, and
//! how a turn ended. `launch` makes arguments and files of choices; `session` owns the
//! program and talks to it through the crate `agent-client-protocol`.

mod agents;
mod backend_spec;
mod events;
mod launch;
mod outcome;
mod probe;
mod session;
mod wire;

pub use agents::AcpAgents;
pub use backend_spec::{AcpBackend, GeminiBackend};
pub use launch::{AcpOptions, HomeFolder};
