//! Codex backend of Autonoe.
//!
//! [`CodexBackend`] drives `codex app-server`, one process for each session. Commands, patches,
//! calls of MCP servers and our own tools pass the gate before they run. This process serves our
//! tools.
//!
//! Resources that an agent reads from MCP servers do not pass the gate, because the program
//! requests no permission for them. [`Capabilities`](autonoe_core::Capabilities) therefore claim
//! only partial hook coverage, and a run needs an outer sandbox. The backend never relies on the
//! program's own sandbox: an approved command may leave it. The
//! [sandbox](autonoe_backend::ProgramOptions::sandbox) of the options runs the whole program in our
//! sandbox.
//!
//! The following modules are pure, without a process or a clock:
//!
//! - [`wire`]: the protocol, JSON-RPC in lines, in both directions.
//! - [`events`]: translation of messages to stream events.
//! - [`outcome`]: the outcome of a turn, decided from the evidence at its end.
//!
//! The message formats are those of version 0.166.0, as recorded. An unknown message or item is
//! kept unchanged and is not an error. Unknown fields of a known message remain in its line
//! ([`wire::ThreadMessage`]), which is logged at the trace level. Only a permission request with an
//! unknown field is refused, because it could request more.

mod backend;
mod backend_spec;
pub mod events;
mod launch;
mod native_program;
pub mod outcome;
mod probe;
mod session;
pub mod wire;

pub use backend::CodexBackend;
pub use backend_spec::CodexSpec;
pub use launch::{CodexHome, CodexOptions, CodexProvider};
