//! Scripted model server with the real Claude Code, in the pinned builds.
//!
//! `cargo xtask clis` installs them. Everything runs offline, in temporary folders.

mod broken_streams;
mod claude;
mod limits;
mod refusals;
mod silence;
mod turns;
