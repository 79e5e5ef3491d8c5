//! Codex as a backend of Autonoe.
//!
//! [`CodexAgents`] drives `codex app-server`, one process for each session. Commands, patches,
//! calls of MCP servers and our own tools pass the gate before they run; our tools are served from
//! this process.
//!
//! Resources that an agent reads from MCP servers do not go through the gate, because the program
//! does not ask about them. So
//! [`Capabilities`](autonoe_core::Capabilities) say that only some calls are asked about, and a
//! run needs an outer sandbox. The program's own sandbox is never relied on: an approval may let a
//! command leave it. [`CodexOptions::walls`] put the whole program into one of ours.
//!
//! Underneath are parts without a process or a clock:
//!
//! - [`wire`]: the protocol, JSON-RPC in lines, both ways.
//! - [`events`]: what the messages mean as they come.
//! - [`outcome`]: how a turn ended, decided from all that is known at its end.
//!
//! The shapes are those of version 0.166.0, as they were recorded. A message or an item that is
//! unknown is kept as it came and is no error. Of those that are known, members that nobody reads
//! stay in the line that comes with the message ([`wire::Addressed`]), which is traced at the lowest level; only
//! a question that has one is refused, because it could ask for more.

mod agents;
mod backend_spec;
pub mod events;
mod launch;
mod native_program;
pub mod outcome;
mod probe;
mod session;
pub mod wire;

pub use agents::CodexAgents;
pub use backend_spec::CodexBackend;
pub use launch::{CodexHome, CodexOptions, CodexProvider};
