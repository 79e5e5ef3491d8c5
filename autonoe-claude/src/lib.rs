//! Claude Code backend of Autonoe.
//!
//! [`ClaudeBackend`] drives the `claude` program over its stream-json protocol: our gate decides
//! about every tool call before it runs, and this process serves our tools. A session that did not
//! start with the requested settings does no work.
//!
//! The following modules are pure, without a process or a clock:
//!
//! - [`wire`]: the protocol. Bytes are split into [`Line`](wire::Line)s, lines are parsed to
//!   [`Message`](wire::Message)s, and outgoing messages are built as whole lines.
//! - [`events`]: translation of messages to [`StreamEvent`](autonoe_core::StreamEvent)s, the cost
//!   of a turn, the running tasks, and the end of a session.
//! - [`outcome`]: the outcome of a session, decided from the evidence at its end.
//!
//! The message formats are those of two builds of the program, 2.1.197 and 2.1.325, as recorded.
//! Unknown messages are kept unchanged and are not an error.

mod backend;
mod backend_spec;
pub mod events;
mod launch;
mod legacy_spec;
mod mcp;
pub mod outcome;
mod probe;
mod session;
pub mod wire;

pub use backend::ClaudeBackend;
pub use backend_spec::ClaudeSpec;
pub use launch::{ClaudeOptions, ConfigFolder, SettingSources};
pub use probe::{Login, LoginCheck, Probe, SandboxProblem};
pub use wire::PermissionMode;
