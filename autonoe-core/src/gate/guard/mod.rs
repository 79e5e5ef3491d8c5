//! Built-in guards of every run, which cannot be removed.
//!
//! A guard passes or blocks a call and never approves it.

mod autonoe_guard;
mod bash_guard;
mod credential_paths;
mod file_name;
mod file_scope;
mod ledger_command;
mod name_spelling;
mod path_guard;
mod read_only;
pub(crate) mod reading_command;
mod tool_input;

use std::sync::Arc;

use autonoe_security::BashSecurity;

use crate::gate::{PreToolUseHook, ProjectPaths};

pub use autonoe_guard::AutonoeGuard;
pub use bash_guard::{BashGuard, SymlinksOnDisk};
pub use file_scope::FileScope;
pub(crate) use path_guard::PathGuard;
pub(crate) use read_only::ReadOnlyGuard;

/// Returns the guards of every run: Bash policy, file scope, protection of `.autonoe/`.
///
/// [`SessionRunner`](crate::SessionRunner) adds them automatically. Use this function when you
/// create a [`Gate`](crate::gate::Gate) yourself.
///
/// ```
/// use autonoe_core::gate::{Gate, Grants, ProjectPaths, built_in_guards};
/// use autonoe_core::gate::policy::DenyAll;
/// use autonoe_core::Mode;
///
/// let project_paths = ProjectPaths::new("/srv/project");
/// let gate = Gate::new(project_paths.clone(), Grants::baseline(Mode::Run));
/// let gate = built_in_guards(DenyAll, &project_paths)
///     .into_iter()
///     .fold(gate, Gate::with_guard);
/// ```
pub fn built_in_guards(
    bash: impl BashSecurity + 'static,
    project_paths: &ProjectPaths,
) -> Vec<Arc<dyn PreToolUseHook>> {
    vec![
        Arc::new(BashGuard::new(bash)),
        Arc::new(FileScope::new(project_paths.clone())),
        Arc::new(AutonoeGuard::new(project_paths.clone())),
    ]
}
