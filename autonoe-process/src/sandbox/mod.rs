//! Operating system sandbox around a child, created by bubblewrap.
//!
//! An [`OsSandbox`] holds the rules. [`resolve_paths`] resolves its paths on this machine, [`mounts`] plans
//! the mounts, [`arguments`] converts the plan to options of bubblewrap, and [`command`] builds
//! the command. [`probe`] checks whether a sandbox works here, and [`diagnosis`] finds out why it
//! does not.

mod arguments;
mod mounts;
mod os_sandbox;
mod probe;
mod resolve_paths;

pub(crate) use os_sandbox::Wrapped;
pub use os_sandbox::{Network, OsSandbox, SandboxError};
pub use probe::Obstacle;
