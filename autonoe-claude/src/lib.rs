//! Claude Code as a backend of Autonoe.
//!
//! [`ClaudeAgents`] drives the `claude` program over its stream-json protocol: our gate
//! decides about every tool call before it happens, and our tools are served from this
//! process. A session that did not start as it was asked to does no work.
//!
//! Underneath are parts without a process or a clock:
//!
//! - [`wire`]: the protocol. Bytes become [`Line`](wire::Line)s, lines become
//!   [`Message`](wire::Message)s, and what is sent is built as whole lines.
//! - [`events`]: what the messages mean as they come:
//!   [`StreamEvent`](autonoe_core::StreamEvent)s, what a turn cost, which tasks
//!   live, and when a session is over.
//! - [`outcome`]: how a session ended, decided from all that is known at its end.
//!
//! The shapes are those of two builds of the program, 2.1.197 and 2.1.325, as
//! they were recorded. Whatever is unknown is kept as it came and is no error.

mod agents;
mod backend_spec;
pub mod events;
mod former_name;
mod launch;
mod mcp;
pub mod outcome;
mod probe;
mod session;
pub mod wire;

pub use agents::ClaudeAgents;
pub use backend_spec::ClaudeBackend;
pub use launch::{ClaudeOptions, ConfigFolder, SettingSources};
pub use probe::{Login, LoginCheck, Probe, SandboxProblem};
pub use wire::PermissionMode;
