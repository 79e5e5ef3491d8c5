//! Integration tests of `autonoe-model`, with scripted model servers.

mod agent;
#[cfg(feature = "conformance")]
mod conformance;
mod openai;
mod priced;
mod providers;
mod tools;
