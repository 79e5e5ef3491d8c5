//! Attempts to write the ledger, hooks and configuration of the repository.

use crate::backends::backend::Backend;
use crate::backends::run_script::{edits, reads, runs, writes};
use crate::everyday::chore::Chore;

/// Tries to write protected files with the file tools and with commands. The journal, the log and
/// the screen show every attempt that the agent's program lets through.
pub(crate) fn protected_files(backend: Backend) -> Chore {
    let mut calls = vec![
        writes(".autonoe/notes.txt", "mine\n").denied(),
        runs("echo mine > .autonoe/other.txt").denied(),
        runs("echo mine > .git/hooks/post-commit").denied(),
    ];
    calls.extend(match backend {
        // Gemini CLI's file tools cannot access this folder, so it fails the call without asking
        // the gate.
        Backend::Gemini => vec![writes(".git/hooks/pre-commit", "#!/bin/sh\n").failing()],
        _ => vec![
            writes(".git/hooks/pre-commit", "#!/bin/sh\n").denied(),
            // Claude Code edits only files that it has read.
            reads(".git/config").expects_text("[core]"),
            edits(".git/config", "[core]", "[core] # mine").denied(),
        ],
    });
    Chore::new("The repository is protected", calls).check(|workplace, findings| {
        for name in [
            ".autonoe/notes.txt",
            ".autonoe/other.txt",
            ".git/hooks/pre-commit",
            ".git/hooks/post-commit",
        ] {
            findings.same(name, workplace.exists(name), false);
        }
        let config = workplace.read(".git/config");
        findings.same("edited", config.contains("mine"), false);
    })
}
