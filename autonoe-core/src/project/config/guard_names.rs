//! Names of the guards that every run has.

/// The guards that run before every hook.
pub(super) const GUARDS: [&str; 3] = ["bash-security", "file-scope", "autonoe-protection"];

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use autonoe_security::DenyAll;

    use super::*;
    use crate::gate::{AutonoeGuard, BashGuard, FileScope};
    use crate::gate::{PreToolUseHook, ProjectPaths};

    #[test]
    fn the_names_match_those_of_the_guards() {
        let project_paths = ProjectPaths::new("/srv/project");
        let guards: [&dyn PreToolUseHook; 3] = [
            &BashGuard::new(Arc::new(DenyAll)),
            &FileScope::new(project_paths.clone()),
            &AutonoeGuard::new(project_paths),
        ];

        assert_eq!(guards.map(PreToolUseHook::name), GUARDS);
    }
}
