//! One session: the program, the talk with it, and who answers.
//!
//! A [`ProgramClient`](autonoe_backend::ProgramClient) owns the process. What the program says is
//! read whether or not anybody looks at the stream, so that questions about tools never wait
//! behind messages. [`Answers`](answers::Answers) answers them, each in a task of its own.

mod answers;
mod expectation;
mod mcp_failure;
mod mcp_log;
mod origins;
mod program;
mod start;
mod talk;
mod turn;

pub(crate) use start::Live;
