//! The protocol, on recorded conversations and on anything else.

mod any_bytes;
mod any_evidence;
mod any_message;
mod any_shape;
mod any_text;
mod model_calls;
mod narration;
mod outcomes;
mod progress;
mod reading;
mod replay;
mod transcript;
mod turns;
mod wording;
