//! Claude Code as a backend of Autonoe.
//!
//! The crate drives the `claude` program over its stream-json protocol. What is
//! here is pure: bytes in, values out, no process and no clock.
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

pub mod events;
pub mod outcome;
pub mod wire;
