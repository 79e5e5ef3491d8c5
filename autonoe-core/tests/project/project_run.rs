//! The one obvious way to run in a directory.

use std::fs;
use std::sync::Arc;

use autonoe_core::{
    ExitReason, Journal, Mode, Project, ProjectError, ProjectRun, ProjectRunError, RunControl,
    RunLock, SeededIds, Verdict,
};
use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
use jiff::Timestamp;
use serde_json::json;

fn folder() -> (tempfile::TempDir, Project) {
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("SPEC.md"), "# Shop").expect("writable");
    let project = Project::find(dir.path(), None).expect("it is there");
    (dir, project)
}

fn plans() -> SessionScript {
    let plan = json!({"deliverables": [
        {"id": "A", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", plan)
        .ends()
}

fn passes() -> SessionScript {
    let passed = json!({"deliverableId": "A", "status": "passed"});
    SessionScript::new("passes")
        .uses_tool("mcp__autonoe__set_status", passed)
        .ends()
}

fn run(project: &Project, agents: ScriptedAgents) -> ProjectRun {
    ProjectRun::new(project.clone(), Arc::new(agents))
        .clock(Arc::new(VirtualClock::new()))
        .configure(|runner| {
            runner
                .ids(Arc::new(SeededIds::new(1)))
                .bash_security(Arc::new(|_: &str| Verdict::Allow))
        })
}

#[tokio::test(start_paused = true)]
async fn it_reads_the_files_of_the_project() {
    let (_dir, project) = folder();
    project.ensure_state_dir().expect("writable");
    fs::write(
        project.state_dir().join("coding.md"),
        "Our own way of coding.",
    )
    .expect("writable");
    fs::write(
        project.config_path(),
        json!({
            "permissions": {"allow": ["WebFetch(domain:docs.rs)"]},
            "hooks": [{"type": "core-deny-tool", "rule": "Bash(git push *)", "reason": "no"}],
        })
        .to_string(),
    )
    .expect("writable");
    let agents = ScriptedAgents::new([
        plans(),
        SessionScript::new("passes")
            .expects_in_prompt("Our own way of coding.")
            .uses_tool("WebFetch", json!({"url": "https://docs.rs/tokio"}))
            .is_denied("WebFetch", json!({"url": "https://example.com"}))
            .is_denied("Bash", json!({"command": "git push origin"}))
            .uses_tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "A", "status": "passed"}),
            )
            .ends(),
    ]);

    let report = run(&project, agents)
        .start(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert!(
        RunLock::acquire(&project, Timestamp::now()).is_ok(),
        "the lock is free again"
    );
}

async fn break_off_in_session_2(project: &Project) {
    let agents = ScriptedAgents::new([plans(), SessionScript::new("hangs").says("x").hangs()]);
    let control = RunControl::new();
    let broken = run(project, agents).start(&control);
    let minute = std::time::Duration::from_secs(60);
    assert!(
        tokio::time::timeout(minute, broken).await.is_err(),
        "it hangs"
    );
}

#[tokio::test(start_paused = true)]
async fn it_goes_on_with_the_run_that_broke_off() {
    let (_dir, project) = folder();
    break_off_in_session_2(&project).await;

    let agents = ScriptedAgents::resuming_at(2, [plans(), passes()]);
    let report = run(&project, agents)
        .start(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!((report.exit, report.sessions), (ExitReason::AllPassed, 2));
    assert_eq!(
        report.cost.unknown_parts, 1,
        "what the lost session cost is unknown"
    );
    let stories = Journal::read(&project.journal_path())
        .expect("whole")
        .stories();
    assert_eq!(
        (
            stories.len(),
            stories[0].resumed,
            stories[0].sessions[1].starts
        ),
        (1, 1, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_go_on_now_can_go_on_later() {
    let (_dir, project) = folder();
    break_off_in_session_2(&project).await;
    let cancelled = RunControl::new();
    cancelled.cancel();
    let before = fs::read_to_string(project.journal_path()).expect("readable");

    let too_early = run(&project, ScriptedAgents::new([]))
        .start(&cancelled)
        .await
        .expect("it starts");

    assert_eq!(too_early.exit, ExitReason::Interrupted);
    let after = fs::read_to_string(project.journal_path()).expect("readable");
    assert_eq!(after, before, "it is as broken off as before");
    let agents = ScriptedAgents::resuming_at(2, [plans(), passes()]);
    let later = run(&project, agents)
        .start(&RunControl::new())
        .await
        .expect("it starts");
    assert_eq!((later.exit, later.sessions), (ExitReason::AllPassed, 2));
    assert_eq!(later.run, too_early.run);
}

#[tokio::test(start_paused = true)]
async fn what_keeps_it_from_starting_is_told_and_changes_nothing() {
    let (_dir, project) = folder();
    let start = async |mode| {
        let agents = ScriptedAgents::new([]);
        run(&project, agents)
            .mode(mode)
            .start(&RunControl::new())
            .await
    };

    let held = RunLock::acquire(&project, Timestamp::now()).expect("nobody else");
    let locked = start(Mode::Run).await.expect_err("it is locked");
    assert!(
        matches!(locked, ProjectRunError::Project(ProjectError::Locked(_))),
        "{locked}"
    );
    drop(held);

    fs::write(project.config_path(), "{\"profil\": \"node\"}").expect("writable");
    let config = start(Mode::Run).await.expect_err("a field is misspelt");
    assert!(config.to_string().contains("profile"), "{config}");
    fs::remove_file(project.config_path()).expect("ours");

    fs::write(project.journal_path(), "hello\n").expect("writable");
    let journal = start(Mode::Sync).await.expect_err("it is no journal");
    assert!(matches!(journal, ProjectRunError::Journal(_)), "{journal}");
    assert_eq!(
        fs::read_to_string(project.journal_path()).expect("readable"),
        "hello\n"
    );
    fs::remove_file(project.journal_path()).expect("ours");

    fs::remove_file(project.root().join("SPEC.md")).expect("ours");
    let missing = start(Mode::Run).await.expect_err("nobody wrote it");
    assert!(missing.to_string().contains("SPEC.md"), "{missing}");
    assert!(!project.status_path().exists());
}
