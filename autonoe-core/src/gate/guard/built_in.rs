//! List of the guards of every run.

use std::sync::Arc;

use autonoe_security::BashSecurity;

use super::{AutonoeGuard, BashGuard, FileScope};
use crate::gate::{PreToolUseHook, ProjectPaths};

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
