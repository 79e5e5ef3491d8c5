//! A sandbox of the operating system around a child: bubblewrap, as data and as a launcher.
//!
//! What is to hold is said in an [`OsSandbox`]. [`look`] finds out what its paths are on
//! this machine, [`mounts`] decides what is mounted where, [`arguments`] says it in
//! bubblewrap's words, [`hand_over`] gives them to it. [`probe`] tries whether it works
//! here, and [`diagnosis`] says why it does not.

mod arguments;
mod diagnosis;
mod hand_over;
mod look;
mod mounts;
mod os_sandbox;
mod probe;
mod sandbox_error;

pub use diagnosis::Obstacle;
pub(crate) use hand_over::Wrapped;
pub use os_sandbox::{NestedSandboxes, Network, OsSandbox};
pub use sandbox_error::SandboxError;
