//! The parts without a process, on lines that the real program wrote.
//!
//! A file of `tests/recorded` is one conversation of version 0.166.0 with a scripted model: what
//! the host sent and what it got, in order. Paths were made the same on all machines.

mod any_message;
mod replay;
mod stories;
