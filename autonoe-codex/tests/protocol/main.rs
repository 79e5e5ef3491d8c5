//! Tests of the pure modules with recorded lines of the real program.
//!
//! A file of `tests/recorded` is one conversation of version 0.166.0 with a scripted model: the
//! sent and received messages of the host, in order. Paths were normalized.

mod any_message;
mod model_calls;
mod recorded_conversations;
mod replay;
