//! Scripted model servers: the model APIs of vendors, from a script, on the loopback address.
//!
//! With one of these in the place of the vendor's, the *real* program of a vendor runs
//! offline, free of charge and the same way each time, with your hooks and tools in the
//! loop. The script says what the model answers; the log has what the program sent.
//!
//! A module per vendor: [`anthropic`] has the Messages API, for Claude Code. What is here
//! serves all of them: a server listens on a free port, on a thread of its own, and is gone
//! when it is dropped. Each request is an [`Exchange`] in its [`RequestLog`], in which a test
//! can look and with which it can wait.
//!
//! A server is strict, as scripted agents are: a request for which the script has no answer
//! gets an error that the program shows, stands as [`Answer::Unanswered`] in the log, and
//! fails the test in `verify` and on drop. So does a turn that nobody asked for.

mod api;
mod connection;
mod cut;
mod exchange;
mod headers;
mod listener;
mod log;
mod open;
mod pieces;

pub mod anthropic;

pub use exchange::{Answer, Ending, Exchange};
pub use headers::{Credential, Headers};
pub use log::{NotSeen, RequestLog};
