//! Single sessions in a project directory, without its ledger and journal.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::project::{OpenProject, ProjectError, ProjectRunError};
use autonoe_core::run::FlowExit;
use autonoe_core::session::{FlowStart, PerformedSession};
use autonoe_core::{RunControl, SessionOrder};
use autonoe_testkit::{
    Expectation, ScriptedBackend, SessionScript, TempProject, ToolUse, VirtualClock,
};
use serde_json::json;

/// Runs one session that follows `script`.
async fn run_session(project: &TempProject, script: SessionScript) -> PerformedSession {
    let agents = Arc::new(ScriptedBackend::new([script]));
    let (lock, builder) = OpenProject::options(project.project())
        .clock(VirtualClock::new())
        .sessions(agents)
        .expect("the project is free");
    let sessions = builder.build_sessions().expect("the parts fit");
    let opened = sessions
        .open(FlowStart::new("ask"), &RunControl::new())
        .await;
    let mut open = opened.expect("it starts");
    let performed = open.run(SessionOrder::new("Why?")).await;
    open.close(FlowExit::Completed, json!({}));
    drop(lock);
    performed
}

/// Returns every file below `folder` with its content, except the lock files.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else if path.extension().is_none_or(|it| it != "lock") {
            files.insert(path.clone(), std::fs::read(&path).expect("readable"));
        }
    }
    files
}

#[tokio::test(start_paused = true)]
async fn a_single_session_leaves_ledger_and_journal_as_they_are() {
    let project = TempProject::new();
    let state = project.project().ensure_state_dir().expect("writable");
    // The content does not matter, because nothing may read or replace it.
    std::fs::write(project.project().status_path(), "not a ledger").expect("writable");
    std::fs::write(project.project().journal_path(), "not a journal").expect("writable");
    let before = files(&state);

    let performed = run_session(&project, SessionScript::new("why").says("A typo.").ends()).await;

    assert!(performed.result.end.is_completed(), "{performed:?}");
    assert_eq!(performed.answer, "A typo.");
    assert_eq!(files(&state), before);
}

#[tokio::test(start_paused = true)]
async fn the_gate_of_a_single_session_is_that_of_a_run() {
    let project = TempProject::new();
    let status = project.project().status_path();
    let denied = |tool: &str, input, by: &str| {
        ToolUse::new(tool, input).expecting(Expectation::DeniedBy(by.to_owned()))
    };
    let script = SessionScript::new("why")
        .calls(denied(
            "Bash",
            json!({"command": "wget example.com"}),
            "bash-security",
        ))
        .calls(denied("Bash", json!({"command": "rm a"}), "bash-security"))
        .calls(denied(
            "Write",
            json!({"file_path": status, "content": "{}"}),
            "autonoe-protection",
        ))
        .ends();

    let performed = run_session(&project, script).await;

    assert!(performed.result.end.is_completed(), "{performed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_single_session_does_not_start_while_a_run_holds_the_lock() {
    let project = TempProject::new();
    let open_project = OpenProject::options(project.project()).open().await;

    let refused = OpenProject::options(project.project()).sessions(ScriptedBackend::new([]));

    assert!(
        matches!(
            refused,
            Err(ProjectRunError::Project(ProjectError::Locked(_)))
        ),
        "the run lock is held"
    );
    drop(open_project);
}
