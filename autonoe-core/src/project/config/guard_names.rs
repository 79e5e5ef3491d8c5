//! Names of the guards that every run has.

/// The guards that the runner puts in front of every hook.
pub(super) const GUARDS: [&str; 3] = ["bash-security", "file-scope", "autonoe-protection"];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autonoe_security::DenyAll;

    use super::*;
    use crate::guard::{AutonoeGuard, BashGuard, FileScope};
    use crate::port::{PreToolUseHook, ProjectPaths};

    #[test]
    fn the_guards_go_by_their_own_names() {
        let project_paths = ProjectPaths::new("/srv/project");
        let guards: [&dyn PreToolUseHook; 3] = [
            &BashGuard::new(Arc::new(DenyAll)),
            &FileScope::new(project_paths.clone()),
            &AutonoeGuard::new(project_paths),
        ];

        assert_eq!(guards.map(PreToolUseHook::name), GUARDS);
    }
}
