//! One session: the program, the talk with it, and who answers.
//!
//! An [`Actor`](actor::Actor) owns the process. It reads what the program says, whether or not
//! anybody looks at the stream, so that questions about calls never wait behind messages.
//! [`Answers`](answers::Answers) answers them, each in a task of its own.

mod actor;
mod answers;
mod client;
mod commands;
mod expectation;
mod ledger_of_calls;
mod pending;
mod start;
mod talk;
mod turn;

pub(crate) use client::CodexClient;
