//! Checks whether the program can create its sandbox on this machine.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use autonoe_process::{Obstacle, OsSandbox, SandboxError, find_program};

/// The programs that the sandbox needs on Linux.
const PROGRAMS: [&str; 2] = ["bwrap", "socat"];

const INSTALL: &str = "install bubblewrap and socat (Debian, Ubuntu: apt install bubblewrap socat; \
    Fedora: dnf install bubblewrap socat)";

/// Reason that prevents the program from creating its sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SandboxProblem {
    /// The reason, with the name of the program that is missing or does not work.
    pub reason: String,
    /// Remedy for the operator.
    pub remedy: String,
}

/// Checks whether a program with `environment` can create its sandbox; `None` if it can.
///
/// If bubblewrap is installed, the check creates a sandbox: many machines have the program and
/// forbid what it does. Claude Code would start there, and each of its commands would fail.
pub(crate) async fn sandbox_problem(
    environment: &BTreeMap<OsString, OsString>,
) -> Option<SandboxProblem> {
    if cfg!(target_os = "macos") {
        return None;
    }
    let path = environment.get(OsStr::new("PATH"));
    let find = |name: &str| path.and_then(|path| find_program(name, path));
    let missing: Vec<_> = PROGRAMS
        .into_iter()
        .filter(|name| find(name).is_none())
        .collect();
    if !missing.is_empty() {
        let verb = if missing.len() == 1 { "is" } else { "are" };
        return Some(SandboxProblem {
            reason: format!("{} {verb} not on PATH", missing.join(" and ")),
            remedy: INSTALL.to_owned(),
        });
    }
    let sandbox = OsSandbox::new(find("bwrap")?);
    let checked = tokio::task::spawn_blocking(move || sandbox.check()).await;
    match checked {
        Ok(Err(error)) if !is_too_old(&error) => Some(SandboxProblem {
            reason: error.to_string(),
            remedy: error.remedy().to_owned(),
        }),
        _ => None,
    }
}

/// Returns whether bubblewrap only lacks options that our own sandboxes need.
fn is_too_old(error: &SandboxError) -> bool {
    let too_old = Obstacle::TooOld;
    matches!(error, SandboxError::Refused { obstacle, .. } if *obstacle == too_old)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Checks with programs of these names, each with a script.
    async fn check(programs: &[(&str, &str)]) -> Option<SandboxProblem> {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, script) in programs {
            let program = folder.path().join(name);
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("writable");
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("ours");
        }
        let path = folder.path().as_os_str().to_owned();
        sandbox_problem(&BTreeMap::from([("PATH".into(), path)])).await
    }

    #[tokio::test]
    async fn a_missing_program_is_named_with_the_way_to_install_it() {
        for (programs, reason) in [
            (&[][..], "bwrap and socat are not on PATH"),
            (&[("socat", "")], "bwrap is not on PATH"),
            (&[("bwrap", "")], "socat is not on PATH"),
        ] {
            let problem = check(programs).await.expect("something is missing");

            assert_eq!(problem.reason, reason);
            let remedy = &problem.remedy;
            assert!(remedy.contains("apt install bubblewrap socat"), "{remedy}");
        }
    }

    #[tokio::test]
    async fn a_bubblewrap_that_does_not_work_is_a_problem_and_an_old_one_is_not() {
        let forbidden = "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1";
        let old = "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1";

        let problem = check(&[("socat", ""), ("bwrap", forbidden)]).await;
        let problem = problem.expect("it does not work");
        assert!(problem.reason.contains("No permissions"), "{problem:?}");
        assert!(!problem.remedy.is_empty());
        assert_eq!(check(&[("socat", ""), ("bwrap", old)]).await, None);
        assert_eq!(check(&[("socat", ""), ("bwrap", "")]).await, None);
    }
}
