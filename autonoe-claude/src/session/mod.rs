//! One session: the program, the talk with it, and who answers.
//!
//! An [`Actor`] owns the process. It reads what the program says, whether or not
//! anybody looks at the stream, so that questions about tools never wait behind
//! messages. [`Answers`] answers them, each in a task of its own.

mod actor;
mod answers;
mod client;
mod commands;
mod expectation;
mod origins;
mod pending;
mod start;
mod talk;
mod turn;

pub(crate) use client::ClaudeClient;
