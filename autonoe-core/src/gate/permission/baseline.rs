//! Permission rules that every run has.

use crate::time::Mode;

/// Rules of a run that implements deliverables.
///
/// Reads are open everywhere, because the file scope guard protects what must not be read. Shell
/// commands are open, because the Bash policy checks each of them. Writes are limited to the
/// project and `/tmp`, where the file scope guard protects the directories of sessions.
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

/// Rules of a sync, which reads the project and only writes the note for the next session.
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
    use crate::gate::permission::PermissionRule;

    #[test]
    fn every_rule_of_the_baseline_is_valid() {
        for text in RUN.iter().chain(SYNC) {
            assert!(text.parse::<PermissionRule>().is_ok(), "{text}");
        }
    }
}
