//! The guards that every run has.

use std::sync::Arc;

use autonoe_security::BashSecurity;

use super::{AutonoeGuard, BashGuard, CredentialPlaces, FileScope};
use crate::port::{PreToolUseHook, ProjectPaths};

/// Returns the guards that every run has: Bash policy, file scope, protection of `.autonoe/`.
///
/// [`SessionRunner`](crate::SessionRunner) adds them by itself; this is for who
/// makes a [`Gate`](crate::Gate) in another way.
///
/// ```
/// use autonoe_core::{CredentialPlaces, DenyAll, Gate, Grants, Mode, ProjectPaths, built_in_guards};
///
/// let project_paths = ProjectPaths::new("/srv/project");
/// let gate = Gate::new(project_paths.clone(), Grants::baseline(Mode::Run));
/// let gate = built_in_guards(DenyAll, &project_paths, CredentialPlaces::default())
///     .into_iter()
///     .fold(gate, Gate::with_guard);
/// ```
pub fn built_in_guards(
    bash: impl BashSecurity + 'static,
    project_paths: &ProjectPaths,
    credentials: CredentialPlaces,
) -> Vec<Arc<dyn PreToolUseHook>> {
    vec![
        Arc::new(BashGuard::new(bash)),
        Arc::new(FileScope::new(project_paths.clone()).with_credentials(credentials)),
        Arc::new(AutonoeGuard::new(project_paths.clone())),
    ]
}
