//! Sessions of the programs in their non-interactive mode, without Autonoe.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;

use crate::backend::Backend;
use crate::model::{Model, Then};
use crate::programs;
use crate::stats::Session;
use crate::workspace::Workspace;

/// Measures one session from the start of the program to its exit; `None` if there is no program.
///
/// The settings are the same as ours: no lookups, no telemetry, and a single process where
/// possible. If `is_sandboxed`, Claude Code uses its own sandbox, as in our sessions, and the other
/// programs run in bubblewrap.
pub(crate) async fn session(
    backend: Backend,
    is_sandboxed: bool,
    place: &Workspace,
) -> Option<Session> {
    if !matches!(
        backend,
        Backend::Claude(_) | Backend::Codex | Backend::Gemini
    ) {
        return None;
    }
    let mut model = Model::start(backend.vendor()?, Then::Ends, place).await;
    let mut command = command(backend, is_sandboxed, place, &model.url)?;
    command
        .current_dir(place.project())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());

    let started = Instant::now();
    let mut program = command.spawn().expect("it starts");
    let stdout = program.stdout.take().expect("it is piped");
    let mut lines = BufReader::new(stdout).lines();
    let mut line = lines.next_line().await.expect("it can be read");
    let first_event = started.elapsed();
    let mut last = String::new();
    while let Some(next) = line {
        last = next;
        line = lines.next_line().await.expect("it can be read");
    }
    let status = program.wait().await.expect("it ends");
    let whole = started.elapsed();

    assert!(status.success(), "{backend:?}: {status}: {last}");
    Some(Session {
        first_event,
        whole,
        tree_kib: model.wait_for_second_request().await,
    })
}

/// The sandbox of Claude Code, with the settings of our sessions.
const CLAUDE_SANDBOX: &str = r#"{"sandbox": {"enabled": true, "failIfUnavailable": true,
    "autoAllowBashIfSandboxed": false, "allowUnsandboxedCommands": false}}"#;

/// Returns a command that starts `program`, in bubblewrap if `is_sandboxed`.
fn start(program: &Path, is_sandboxed: bool) -> Command {
    if !is_sandboxed {
        return Command::new(program);
    }
    let mut command = Command::new("bwrap");
    command
        .args(["--bind", "/", "/", "--dev", "/dev", "--proc", "/proc"])
        .args(["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--"])
        .arg(program);
    command
}

fn command(backend: Backend, is_sandboxed: bool, place: &Workspace, url: &str) -> Option<Command> {
    let mut command = match backend {
        Backend::Claude(version) => {
            let mut command = Command::new(programs::claude(version));
            if is_sandboxed {
                command.args(["--settings", CLAUDE_SANDBOX]);
            }
            command
                .args(["-p", "Say hello.", "--output-format", "stream-json"])
                .args(["--verbose", "--allowedTools", "Bash(echo:*)"])
                .env_clear()
                .envs(place.environment(&[
                    ("ANTHROPIC_BASE_URL", url),
                    ("ANTHROPIC_API_KEY", "dummy"),
                    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
                    ("DISABLE_AUTOUPDATER", "1"),
                    ("DISABLE_ERROR_REPORTING", "1"),
                    ("DISABLE_TELEMETRY", "1"),
                ]));
            command
        }
        Backend::Codex => {
            let provider = format!(
                "model_providers.bench={{name=\"Bench\",base_url=\"{url}\",\
                 env_key=\"PASSE_PARTOUT\",wire_api=\"responses\"}}"
            );
            let mut command = start(programs::codex().as_ref(), is_sandboxed);
            command
                .args(["exec", "--json", "--skip-git-repo-check", "--ephemeral"])
                .args(["-m", "gpt-5.5", "-s", "danger-full-access"])
                .args(["--disable", "plugins", "--disable", "apps"])
                .args(["-c", "model_provider=\"bench\"", "-c", &provider])
                .args(["--", "Say hello."])
                .env_clear()
                .envs(place.environment(&[("PASSE_PARTOUT", "dummy")]));
            command
        }
        Backend::Gemini => {
            let settings = r#"{"general": {"enableAutoUpdate": false},
                "privacy": {"usageStatisticsEnabled": false},
                "security": {"auth": {"selectedType": "gemini-api-key"}}}"#;
            let file = place.home().join(".gemini/settings.json");
            fs::write(file, settings).expect("it can be written");
            let mut command = start(programs::node().as_ref(), is_sandboxed);
            command
                .arg(programs::gemini())
                .args(["-p", "Say hello.", "-o", "stream-json", "--yolo"])
                .args(["--model", "gemini-2.5-flash"])
                .env_clear()
                .envs(place.environment(&[
                    ("GEMINI_API_KEY", "dummy"),
                    ("GOOGLE_GEMINI_BASE_URL", url),
                    ("GEMINI_CLI_NO_RELAUNCH", "true"),
                    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
                    ("NO_COLOR", "1"),
                ]));
            command
        }
        Backend::Model | Backend::Scripted => return None,
    };
    command.kill_on_drop(true);
    Some(command)
}
