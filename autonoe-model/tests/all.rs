//! Integration tests of `autonoe-model`, with scripted model servers.

mod agent;
#[cfg(feature = "conformance")]
mod conformance;
mod one_dependency;
mod openai;
mod priced;
mod providers;
mod tools;
