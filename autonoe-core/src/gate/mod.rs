//! The gate that decides about every tool call, with its guards, hooks, grants and permission
//! rules.

// The main type has its own file.
#[allow(clippy::module_inception)]
mod gate;
mod gate_decision;
mod guard;
mod hook;
pub(crate) mod lexical_path;
pub(crate) mod permission;
mod project_paths;

/// The Bash policy: a re-export of the crate `autonoe-security`.
pub use autonoe_security as policy;
pub use gate::Gate;
pub use gate_decision::GateDecision;
pub use guard::AutonoeGuard;
pub use guard::BashGuard;
pub use guard::FileScope;
pub(crate) use guard::ReadOnlyGuard;
pub use guard::SymlinksOnDisk;
pub use guard::built_in_guards;
pub use hook::{AndHook, HookDecision, PreToolUseHook, WhenHook, hook_fn};
pub use permission::{Grants, InvalidRule, PermissionRule};
pub use project_paths::ProjectPaths;
