//! The scripted model server with the real Claude Code, in both pinned builds.
//!
//! `cargo xtask clis` installs them. Everything runs offline, in temporary folders.
#![cfg(all(feature = "model-servers", target_os = "linux"))]

mod broken_streams;
mod build;
mod claude;
mod leftovers;
mod limits;
mod refusals;
mod silence;
mod turns;
