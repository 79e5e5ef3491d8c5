//! Scripted model servers, asked over plain connections.
#![cfg(feature = "model-servers")]

mod answers;
mod broken_streams;
mod client;
mod limits;
mod log;
mod scripts;
mod silence;
