//! Scripted model servers, tested over plain connections.
#![cfg(feature = "model-servers")]

mod answers;
mod api;
mod broken_streams;
mod client;
mod every_vendor;
mod faulty_streams;
mod gemini;
mod limits;
mod log;
mod openai;
mod refusals;
mod scripts;
mod silence;
