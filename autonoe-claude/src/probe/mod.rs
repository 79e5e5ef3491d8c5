//! [`Probe`] of Claude Code: version, login, sandbox and directory.

mod not_claude_error;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::Duration;

use autonoe_backend::{AnswerEnd, ShortAnswer, short_answer};
use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_process::{Exit, Obstacle, OsSandbox, SandboxError, find_program};
use serde::Deserialize;

use crate::launch::{
    ClaudeOptions, Folders, SettingSources, bare_environment, check_project_path,
    create_session_directory,
};
use crate::outcome::LOG_IN;

pub(crate) use self::not_claude_error::{Mismatch, not_claude_error};

/// The builds that the protocol was tested with, from the oldest to the newest.
const TESTED: [[u32; 3]; 2] = [[2, 1, 197], [2, 1, 325]];

/// Time limit for the program to print its version.
const LIMIT: Duration = Duration::from_secs(60);

/// Findings about the installed program.
#[derive(Debug)]
#[non_exhaustive]
pub struct Probe {
    /// The version of the program.
    pub version: String,
    /// Whether the version is between the oldest and the newest tested build.
    pub is_tested: bool,
    /// Reason if the program cannot create its sandbox.
    pub sandbox_problem: Option<SandboxProblem>,
    /// Reason if the program cannot work in [`ClaudeOptions::directory`].
    pub directory_problem: Option<AgentError>,
    /// Whether the program has credentials, as far as it was probed.
    pub login: Login,
}

/// Queries the version and the login of the program, and checks its sandbox and the directory of
/// its sessions. The steps run concurrently.
pub(crate) async fn probe(options: &ClaudeOptions) -> Result<Probe, AgentError> {
    let (answer, sandbox_problem, login) = tokio::join!(
        run_for_answer(options, &["--version"], LIMIT),
        sandbox_problem(&options.program.environment),
        probe_login(options),
    );
    let answer = answer?;
    let Some(numbers) = version_numbers(&answer) else {
        let mismatch = Mismatch::Version(&answer);
        return Err(not_claude_error(&options.program.path, &mismatch));
    };
    let version = answer.stdout.split_whitespace().next().unwrap_or_default();
    let directory = options.directory.as_deref();
    Ok(Probe {
        version: version.to_owned(),
        is_tested: (TESTED[0]..=TESTED[1]).contains(&numbers),
        sandbox_problem,
        directory_problem: directory
            .and_then(|directory| check_project_path(directory, Some(numbers)).err()),
        login,
    })
}

/// Time limit of the probe. Without an answer, the run starts.
const LOGIN_LIMIT: Duration = Duration::from_secs(60);

/// Whether the program has credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Login {
    /// It has some. Whether they are valid shows when they are used.
    Found,
    /// It has none.
    Missing,
    /// It was not probed, or its answer is unknown.
    #[default]
    Unknown,
}

/// Time at which a missing login is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoginCheck {
    /// At the first session's call to the model: credentials may come with a session.
    #[default]
    InSession,
    /// At the probe of the backend, before a run starts: the environment contains all credentials.
    ///
    /// Settings of the project may contain credentials. If they apply, a missing login is detected
    /// in the session.
    AtProbe,
}

/// Runs `claude auth status`. Returns [`Login::Unknown`] if the login is checked in sessions, or if
/// settings of the project could override the answer.
async fn probe_login(options: &ClaudeOptions) -> Login {
    let counts = options.setting_sources == SettingSources::None;
    if options.login_check != LoginCheck::AtProbe || !counts {
        return Login::Unknown;
    }
    match run_for_answer(options, &["auth", "status", "--json"], LOGIN_LIMIT).await {
        Ok(answer) => read(&answer),
        Err(error) => {
            tracing::debug!(%error, "the login state of Claude Code is unknown");
            Login::Unknown
        }
    }
}

/// Parses the answer. Only a clear answer counts, because a run without a login does not start.
fn read(answer: &ShortAnswer) -> Login {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Status {
        logged_in: bool,
    }
    match serde_json::from_str::<Status>(&answer.stdout) {
        Ok(Status { logged_in: true }) => Login::Found,
        Ok(Status { logged_in: false }) => Login::Missing,
        Err(_) => Login::Unknown,
    }
}

/// Returns the error of missing credentials.
pub(crate) fn not_logged_in() -> AgentError {
    let message = "Claude Code is not logged in, and there is no key for it";
    AgentError::new(AgentErrorKind::Authentication, message).with_remedy(LOG_IN)
}

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

/// Runs the program with `arguments` for at most `limit`, and returns its answer.
///
/// # Errors
///
/// The program cannot be started.
async fn run_for_answer(
    options: &ClaudeOptions,
    arguments: &[&str],
    limit: Duration,
) -> Result<ShortAnswer, AgentError> {
    let session_dir = create_session_directory(options)?;
    let environment = bare_environment(options, Folders::new(&session_dir));
    let launch = session_dir
        .launch(&options.program.path, &options.program.temporary)
        .args(arguments.iter().copied())
        .envs(environment);
    let answer = short_answer(launch, limit).await;
    answer.map_err(|error| not_claude_error(&options.program.path, &Mismatch::CannotStart(&error)))
}

/// Returns the numbers of the version, if the answer is from Claude Code.
fn version_numbers(answer: &ShortAnswer) -> Option<[u32; 3]> {
    let ended_well = answer.end == AnswerEnd::Exited(Exit::Code(0));
    // Many other programs print three numbers as their version.
    let is_its_own = answer.stdout.to_lowercase().contains("claude");
    if !ended_well || !is_its_own {
        return None;
    }
    let word = answer.stdout.split_whitespace().next()?;
    let mut parts = word.split('.').map(str::parse);
    let mut next = || parts.next()?.ok();
    Some([next()?, next()?, next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_word_counts() {
        for (output, expected) in [
            (
                "{\"loggedIn\": false, \"authMethod\": \"none\"}",
                Login::Missing,
            ),
            ("{\n  \"loggedIn\": true,\n  \"more\": [1]\n}", Login::Found),
            ("{\"loggedIn\": \"no\"}", Login::Unknown),
            ("{}", Login::Unknown),
            ("", Login::Unknown),
            ("error: unknown command 'auth'", Login::Unknown),
            ("2.1.300 (Claude Code)", Login::Unknown),
        ] {
            let answer = ShortAnswer {
                stdout: output.to_owned(),
                ..ShortAnswer::default()
            };
            assert_eq!(read(&answer), expected, "{output}");
        }
    }

    #[test]
    fn a_version_is_three_numbers_of_claude_code() {
        let well = AnswerEnd::Exited(Exit::Code(0));
        for (output, end, found) in [
            ("2.1.197 (Claude Code)", well, Some([2, 1, 197])),
            ("2.1 (Claude Code)", well, None),
            ("v2.1.3 (Claude Code)", well, None),
            ("10.2.3", well, None),
            ("", well, None),
            (
                "2.1.197 (Claude Code)",
                AnswerEnd::Exited(Exit::Code(1)),
                None,
            ),
            (
                "2.1.197 (Claude Code)",
                AnswerEnd::Exited(Exit::Signal(9)),
                None,
            ),
            ("2.1.197 (Claude Code)", AnswerEnd::TimedOut, None),
            ("2.1.197 (Claude Code)", AnswerEnd::TooMuchOutput, None),
        ] {
            let answer = ShortAnswer {
                stdout: output.to_owned(),
                stderr: String::new(),
                end,
            };
            assert_eq!(version_numbers(&answer), found, "{output:?} {end:?}");
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod sandbox_tests {
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
