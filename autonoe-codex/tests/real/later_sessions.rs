//! Sessions after the first one: every check is repeated, and only the trial of bubblewrap is not.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use autonoe_codex::{CodexBackend, CodexOptions};
use autonoe_core::agent::{AgentErrorKind, SessionOutcome};
use autonoe_core::{AgentClientFactory, AgentError, StreamEvent};
use autonoe_process::find_program;
use serde_json::json;
use tempfile::TempDir;

use crate::fake_program::{FakeProgram, ended};
use crate::fake_sessions::outcome;
use crate::fixture::{collect_events, within};

fn completing_program() -> FakeProgram {
    FakeProgram::new().in_its_turn(&[ended("u", "completed")])
}

/// Plays one turn in a session of its own.
async fn play_session(
    program: &FakeProgram,
    agents: &CodexBackend,
) -> (Vec<StreamEvent>, Option<AgentError>) {
    let spec = program.fixture.spec([]);
    let mut client = agents.create(spec).expect("it can be");
    let turn = collect_events(client.as_mut(), "Do it.").await;
    within(client.dispose()).await.expect("it ends");
    program.fixture.assert_nothing_is_left();
    turn
}

async fn assert_completes(program: &FakeProgram, agents: &CodexBackend) {
    let (events, error) = play_session(program, agents).await;
    assert!(error.is_none(), "{error:?} {events:?}");
    assert_eq!(outcome(&events), Some(SessionOutcome::Completed));
}

#[tokio::test]
async fn a_program_that_starts_a_later_session_with_other_permissions_is_refused() {
    for (field, value) in [
        ("sandbox", json!({"type": "workspaceWrite"})),
        ("approvalPolicy", json!("never")),
        ("approvalsReviewer", json!("auto_review")),
    ] {
        let program = completing_program();
        let agents = program.agents();
        assert_completes(&program, &agents).await;

        let mut thread = json!({
            "approvalPolicy": "untrusted", "approvalsReviewer": "user",
            "sandbox": {"type": "dangerFullAccess"}, "thread": {"id": "t"}, "model": "m",
        });
        thread[field] = value;
        let program = program.answers("thread/start", &thread, &[]);
        let (events, error) = play_session(&program, &agents).await;

        let kind = error.map(|error| error.kind());
        assert_eq!(kind, Some(AgentErrorKind::Protocol), "{field} {events:?}");
        assert_eq!(events, [], "{field}");
    }
}

/// A program in place of bubblewrap that logs its starts.
struct LoggingBubblewrap {
    folder: TempDir,
}

impl LoggingBubblewrap {
    /// Creates a program that runs `script` with `$bwrap`, the real bubblewrap, and with `$count`,
    /// the number of starts so far.
    fn new(script: &str) -> Self {
        // Not in the temporary folder, which is a different one in the sandbox.
        let folder = tempfile::tempdir_in("/var/tmp").expect("a directory can be made");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let bwrap = find_program("bwrap", OsStr::new(&path)).expect("bubblewrap is installed");
        let log = folder.path().join("starts");
        // Inside the sandbox the log cannot be written.
        let text = format!(
            "#!/bin/bash\nbwrap={}\nlog={}\necho \"$*\" 2> /dev/null >> \"$log\"\n\
             count=$(wc -l < \"$log\")\n{script}\n",
            bwrap.display(),
            log.display(),
        );
        let logging = Self { folder };
        fs::write(&log, "").expect("writable");
        fs::write(logging.program(), text).expect("writable");
        fs::set_permissions(logging.program(), fs::Permissions::from_mode(0o755)).expect("ours");
        logging
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("bwrap")
    }

    /// Returns the command line of each start.
    fn starts(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("starts")).expect("it is there");
        log.lines().map(str::to_owned).collect()
    }
}

/// Returns the options of `program` in a sandbox of `bubblewrap`.
fn sandboxed_options(program: &FakeProgram, bubblewrap: &Path) -> CodexOptions {
    let mut options = program.options();
    options.program.sandbox.bubblewrap = Some(bubblewrap.to_owned());
    options
        .program
        .sandbox
        .writable
        .push(program.fixture.folder.join("play"));
    options
}

#[tokio::test]
async fn bubblewrap_is_tried_once_and_every_session_runs_in_it() {
    for is_probed in [false, true] {
        let bubblewrap = LoggingBubblewrap::new("exec \"$bwrap\" \"$@\"");
        let mut program = completing_program();
        program.fixture = program.fixture.sandboxed();
        let options = sandboxed_options(&program, &bubblewrap.program());
        let sandbox = options.program.sandbox.clone();
        let agents = CodexBackend::new(options);
        if is_probed {
            sandbox.check().await.expect("it works");
        }

        for _ in 0..3 {
            assert_completes(&program, &agents).await;
        }

        let starts = bubblewrap.starts();
        let count = |end: &str| starts.iter().filter(|start| start.ends_with(end)).count();
        assert_eq!(count(" --version"), 1, "{starts:#?}");
        assert_eq!(count(" app-server"), 3, "{starts:#?}");
        assert_eq!(starts.len(), 4, "{starts:#?}");
    }
}

#[tokio::test]
async fn a_bubblewrap_that_fails_after_its_trial_is_an_error_with_its_reason() {
    let refusal = "bwrap: No permissions to create a new namespace";
    let bubblewrap = LoggingBubblewrap::new(&format!(
        "[ \"$count\" -le 1 ] && exec \"$bwrap\" \"$@\"\necho '{refusal}' >&2; exit 1"
    ));
    let mut program = completing_program();
    program.fixture = program.fixture.sandboxed();
    let agents = CodexBackend::new(sandboxed_options(&program, &bubblewrap.program()));

    // The first session passes the trial and fails at its start; the second one fails the trial.
    for _ in 0..2 {
        let (events, error) = play_session(&program, &agents).await;

        let error = error.expect("there is no sandbox");
        assert_eq!(error.kind(), AgentErrorKind::NotAvailable, "{error}");
        assert!(error.to_string().contains("bubblewrap"), "{error}");
        assert!(error.remedy().is_some(), "{error}");
        assert_eq!(events, []);
    }

    assert_eq!(program.received(), Vec::<serde_json::Value>::new());
}
