//! Session of Codex: its process, the connection to it, and the answers to its requests.
//!
//! A [`ProgramClient`](autonoe_backend::ProgramClient) owns the process. The output of the program
//! is read whether or not the stream is polled, so that permission requests never wait behind
//! messages. [`Answers`](answers::Answers) answers them, each in a task of its own.

mod answers;
mod pending_calls;
mod start;
mod thread_check;
mod transport;
mod turn;

pub(crate) use start::Connection;
