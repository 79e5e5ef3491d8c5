//! Session of Claude Code: its process, the connection to it, and the answers to its requests.
//!
//! A [`ProgramClient`](autonoe_backend::ProgramClient) owns the process. The output of the program
//! is read whether or not the stream is polled, so that permission requests never wait behind
//! messages. [`Answers`](answers::Answers) answers them, each in a task of its own.

mod answers;
mod call_parents;
mod expectation;
mod mcp_failure;
mod mcp_log;
mod start;
mod transport;
mod turn;

pub(crate) use start::Connection;
