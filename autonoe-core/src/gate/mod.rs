//! The gate that decides about every tool call, with its guards, hooks, grants and permission
//! rules.

// The main type has its own file.
#[allow(clippy::module_inception)]
mod gate;
mod guard;
mod hook;
pub(crate) mod lexical_path;
pub(crate) mod permission;

/// The Bash policy: a re-export of the crate `autonoe-security`.
pub use autonoe_security as policy;
pub use gate::{Gate, GateDecision};
pub(crate) use guard::ReadOnlyGuard;
pub use guard::{AutonoeGuard, BashGuard, FileScope, SymlinksOnDisk, built_in_guards};
pub use hook::{AndHook, HookDecision, PreToolUseHook, ProjectPaths, WhenHook, hook_fn};
pub use permission::{Grants, InvalidRule, PermissionRule};
