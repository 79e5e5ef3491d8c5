//! What every run is granted.

use crate::domain::Mode;

/// What a run that implements is granted.
///
/// Reads are open everywhere: what must not be read is for the file scope guard
/// to say. Shell commands are open here
/// because the Bash policy judges each of them. Writes stay in the project and
/// `/tmp`, where the file scope guard protects the folders of sessions.
const RUN: &[&str] = &[
    "Read(./**)",
    "Glob(./**)",
    "Grep(./**)",
    "Read(/**)",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "Bash(*)",
    "Write(./**)",
    "Edit(./**)",
    "Write(/tmp/**)",
    "Edit(/tmp/**)",
];

/// What a sync is granted: it looks at the project and changes nothing but the
/// note for the next session.
const SYNC: &[&str] = &[
    "Read(./**)",
    "Glob(./**)",
    "Grep(./**)",
    "Read(/**)",
    "TodoWrite",
    "TaskOutput",
    "TaskStop",
    "Bash(*)",
    "Write(./.autonoe-note.md)",
    "Edit(./.autonoe-note.md)",
];

/// Returns the rules that every run of `mode` has.
pub(super) fn baseline(mode: Mode) -> &'static [&'static str] {
    match mode {
        Mode::Run => RUN,
        Mode::Sync => SYNC,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::permission::PermissionRule;

    #[test]
    fn every_rule_of_the_baseline_is_valid() {
        for text in RUN.iter().chain(SYNC) {
            assert!(text.parse::<PermissionRule>().is_ok(), "{text}");
        }
    }
}
