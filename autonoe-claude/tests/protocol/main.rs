//! Tests of the protocol, with recorded conversations and generated input.

mod any_bytes;
mod any_evidence;
mod any_message;
mod any_shape;
mod any_text;
mod descriptions;
mod message_formats;
mod model_calls;
mod outcomes;
mod progress;
mod replay;
mod transcript;
mod transcript_text;
mod turns;
