//! Native program of Codex behind the script of npm, and the probe of its version.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_backend::{short_answer, shutdown_program, wait_for_exit};
use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;
use autonoe_process::{Exit, LaunchError, SessionFolder, ShutdownPolicy, StartedProcess};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::launch::{CodexHome, CodexOptions, FOLDER, bare_environment, create_session_directory};
use crate::wire::Outgoing;

/// Time limit for the program to print its version.
const LIMIT: Duration = Duration::from_secs(60);

/// Returns the version of the program.
///
/// # Errors
///
/// The program cannot be started, or is not Codex.
pub(crate) async fn version(options: &CodexOptions) -> Result<String, AgentError> {
    let session_dir = create_session_directory(options, &options.program.temporary, None)?;
    let environment = bare_environment(options, &session_dir);
    let launch = session_dir
        .launch(&options.program.path, &options.program.temporary)
        .arg("--version")
        .envs(environment);
    let answer = short_answer(launch, LIMIT).await;
    // The answer counts even if the program did not exit in time.
    let stdout = answer
        .map_err(|error| launch_error(&options.program.path, error))?
        .stdout;
    version_in(&stdout).map(str::to_owned).ok_or_else(|| {
        AgentError::new(
            AgentErrorKind::NotAvailable,
            format!(
                "{:?} does not identify itself as Codex",
                options.program.path
            ),
        )
    })
}

/// Time limit for the program to create its databases.
const STATE_LIMIT: Duration = Duration::from_secs(20);

/// Lets the program create its databases once, without an agent, for the
/// [`StateTemplate`](crate::launch::StateTemplate).
///
/// Failures are logged. Sessions then create their own databases.
pub(crate) async fn prepare_state(options: &CodexOptions) {
    let is_used = options.home == CodexHome::PerSession;
    if !is_used || options.state_template.is_ready(&options.program.path) {
        return;
    }
    match tokio::time::timeout(STATE_LIMIT, create_state(options)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::debug!(%error, "there is no template of the state of Codex"),
        Err(_elapsed) => tracing::debug!("Codex did not create its state in time"),
    }
}

async fn create_state(options: &CodexOptions) -> Result<(), AgentError> {
    let failed = |error: io::Error| {
        let message = "the state of Codex cannot be copied";
        AgentError::new(AgentErrorKind::Other, message).with_source(error)
    };
    let temporary = &options.program.temporary;
    let session_dir = create_session_directory(options, temporary, None)?;
    // It is not in the folder of the program, which is removed when the program exits.
    let state = SessionFolder::create_in(temporary, FOLDER).map_err(failed)?;
    let mut environment = bare_environment(options, &session_dir);
    environment.insert("CODEX_SQLITE_HOME".into(), state.path().into());
    let launch = session_dir
        .launch(&options.program.path, temporary)
        .arg("app-server")
        .envs(environment);
    let StartedProcess {
        process,
        mut stdin,
        mut stdout,
    } = launch
        .start()
        .await
        .map_err(|error| launch_error(&options.program.path, error))?;
    let request = Outgoing::initialize(1).to_line();
    stdin.write_all(request.as_bytes()).await.map_err(failed)?;
    stdin.flush().await.map_err(failed)?;
    // The program answers when its databases are complete, and exits at the end of its input.
    let answer = stdout.read_u8().await;
    drop(stdin);
    let exit = wait_for_exit(&process).await;
    shutdown_program("Codex", process, ShutdownPolicy::kill_at_once()).await;
    answer.map_err(failed)?;
    if exit != Some(Exit::Code(0)) {
        let message = "Codex did not exit after it had created its state";
        return Err(AgentError::new(AgentErrorKind::Crashed, message));
    }
    let template = &options.state_template;
    template
        .read(&options.program.path, state.path())
        .map_err(failed)
}

/// Converts a launch failure to an error.
pub(crate) fn launch_error(program: &Path, error: LaunchError) -> AgentError {
    let message = format!("Codex cannot be started as {program:?}");
    AgentError::new(AgentErrorKind::NotAvailable, message).with_source(error)
}

fn version_in(output: &str) -> Option<&str> {
    let mut words = output.split_whitespace();
    let is_codex = words.next() == Some("codex-cli");
    words.next().filter(|_| is_codex)
}

/// Returns the native program behind `found`, or `found` itself if there is none.
///
/// npm installs a script as `codex`, which leaves the program running when it is killed. The
/// program is in the same package, or in one for this system beside or below that package.
pub(crate) fn resolve_native_program(found: PathBuf) -> PathBuf {
    let real = found.canonicalize().unwrap_or(found);
    if real.extension().is_none_or(|ending| ending != "js") {
        return real;
    }
    let Some(package) = real.parent().and_then(Path::parent) else {
        return real;
    };
    let scope = package.parent().map(Path::to_owned);
    let below = package.join("node_modules/@openai");
    let others = [Some(below), scope].into_iter().flatten();
    let others = others.flat_map(|folder| entries(&folder)).filter(|entry| {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("codex-")
    });
    let packages = [package.to_owned()].into_iter().chain(others);
    let mut programs = packages
        .flat_map(|package| entries(&package.join("vendor")))
        .map(|system| system.join("bin/codex"));
    programs.find(|program| program.is_file()).unwrap_or(real)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_codex_has_a_version() {
        for (output, version) in [
            ("codex-cli 0.166.0\n", Some("0.166.0")),
            ("codex 1.0", None),
            ("codex-cli", None),
            ("", None),
        ] {
            assert_eq!(version_in(output), version, "{output}");
        }
    }

    fn file(path: &Path) {
        fs::create_dir_all(path.parent().expect("it has one")).expect("writable");
        fs::write(path, "").expect("writable");
    }

    #[test]
    fn the_program_is_found_wherever_npm_puts_it() {
        for place in [
            "lib/@openai/codex/vendor/some-system/bin/codex",
            "lib/@openai/codex-some-system/vendor/some-system/bin/codex",
            "lib/@openai/codex/node_modules/@openai/codex-some-system/vendor/x/bin/codex",
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let root = folder.path().canonicalize().expect("it is there");
            let script = root.join("lib/@openai/codex/bin/codex.js");
            file(&script);
            symlink(&script, root.join("codex")).expect("writable");
            assert_eq!(
                resolve_native_program(root.join("codex")),
                script,
                "there is no other yet"
            );

            file(&root.join(place));

            assert_eq!(resolve_native_program(root.join("codex")), root.join(place));
        }
    }

    #[test]
    fn a_program_that_is_not_a_script_is_used_directly() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        file(&root.join("real/codex"));
        symlink(root.join("real/codex"), root.join("codex")).expect("writable");

        assert_eq!(
            resolve_native_program(root.join("codex")),
            root.join("real/codex")
        );
        assert_eq!(
            resolve_native_program("/nowhere/codex".into()),
            PathBuf::from("/nowhere/codex")
        );
    }
}
