//! Runs in a project directory with [`ProjectRun`].

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::project::{
    AgentConfig, OpenProject, OpenProjectOptions, ProjectError, ProjectRunError, RunLock,
    RunTimeline,
};
use autonoe_core::time::SeededIds;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, ExitReason, Mode, Project,
    ProjectRun, RunControl, RunReport, SessionSpec,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;
use serde_json::json;

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

fn options(project: &TempProject) -> OpenProjectOptions {
    OpenProject::options(project.project()).clock(VirtualClock::new())
}

fn run(project: &TempProject, agents: ScriptedBackend) -> ProjectRun {
    run_with(options(project), agents)
}

fn run_with(options: OpenProjectOptions, agents: ScriptedBackend) -> ProjectRun {
    ProjectRun::new(options, agents).configure(|runner| {
        runner
            .ids(Arc::new(SeededIds::new(1)))
            .bash_security(|_: &str| Verdict::Allow)
    })
}

#[tokio::test(start_paused = true)]
async fn project_run_reads_the_files_of_the_project() {
    let project = TempProject::new()
        .instruction(&InstructionName::Coding, "Our own way of coding.")
        .config(json!({
            "permissions": {"allow": ["WebFetch(domain:docs.rs)"]},
            "hooks": [{"type": "core-deny-tool", "rule": "Bash(git push *)", "reason": "no"}],
        }));
    let agents = ScriptedBackend::new([
        plans(),
        SessionScript::new("passes")
            .expects_in_prompt("Our own way of coding.")
            .uses_tool("WebFetch", json!({"url": "https://docs.rs/tokio"}))
            .is_denied_by("grants", "WebFetch", json!({"url": "https://example.com"}))
            .is_denied_by(
                "deny Bash(git push *)",
                "Bash",
                json!({"command": "git push origin"}),
            )
            .uses_tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "A", "status": "passed"}),
            )
            .ends(),
    ]);

    let report = run(&project, agents)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert!(
        RunLock::acquire(project.project(), Timestamp::now()).is_ok(),
        "the lock is free again"
    );
}

#[tokio::test(start_paused = true)]
async fn a_run_uses_the_files_that_its_caller_has_loaded_also_if_they_change() {
    let project =
        TempProject::new().config(json!({"permissions": {"allow": ["WebFetch(domain:docs.rs)"]}}));
    let found = project.project();
    let specification = found.specification().expect("it is there");
    let config = AgentConfig::load(found.config_path());
    let config = config.expect("it is valid").expect("it is there");
    fs::remove_file(specification.path()).expect("it is there");
    fs::write(found.config_path(), "{").expect("writable");
    let agents = ScriptedBackend::new([
        plans(),
        SessionScript::new("passes")
            .uses_tool("WebFetch", json!({"url": "https://docs.rs/tokio"}))
            .uses_tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "A", "status": "passed"}),
            )
            .ends(),
    ]);

    let report = run_with(options(&project).config(config), agents)
        .specification(specification)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn the_caller_sees_the_journal_before_the_run_starts() {
    let project = TempProject::new();
    interrupt_in_session_2(&project).await;
    let seen = Arc::new(Mutex::new(None));
    let recorder = seen.clone();

    let agents = ScriptedBackend::resuming_at(2, [plans(), passes()]);
    let report = run(&project, agents)
        .on_open(move |open| *recorder.lock().expect("no panic") = open.journal().interrupted_run())
        .run(&RunControl::new())
        .await
        .expect("it starts");

    let seen = seen.lock().expect("no panic").take();
    assert_eq!(seen.expect("interrupted").run(), &report.run);
}

#[tokio::test(start_paused = true)]
async fn an_agent_may_use_the_link_that_the_project_was_named_by() {
    let project = TempProject::new();
    let outside = tempfile::tempdir_in("/var/tmp").expect("a directory");
    let link = outside.path().join("link");
    let root = project.project().root();
    symlink(root, &link).expect("writable");
    symlink("/etc", root.join("out")).expect("writable");
    let link_path = link.display();
    let write = |path: &str| json!({"file_path": format!("{link_path}/{path}"), "content": "x"});
    let bash = |command: String| json!({"command": command});
    let plans = SessionScript::new("plans")
        .uses_tool("Write", write("src/a.rs"))
        .is_denied_by("file-scope", "Write", write("out/a"))
        .is_denied_by("file-scope", "Write", write("../a"))
        .uses_tool("Bash", bash(format!("cd {link_path} && git status")))
        .uses_tool("Bash", bash(format!("echo x > {link_path}/b")))
        .is_denied_by(
            "bash-security",
            "Bash",
            bash(format!("echo x > {link_path}/out/a")),
        )
        .is_denied_by(
            "bash-security",
            "Bash",
            bash(format!("echo x > {link_path}/../a")),
        )
        .uses_tool(
            "mcp__autonoe__create",
            json!({"deliverables": [
                {"id": "A", "description": "Login", "acceptanceCriteria": ["it works"]},
            ]}),
        )
        .ends();

    let found = Project::find(&link, None).expect("it is there");
    let agents = ScriptedBackend::new([plans, passes()]);
    let report = ProjectRun::new(
        OpenProject::options(&found).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .run(&RunControl::new())
    .await
    .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed);
}

async fn interrupt_in_session_2(project: &TempProject) {
    let agents = ScriptedBackend::new([plans(), SessionScript::new("hangs").says("x").hangs()]);
    let control = RunControl::new();
    let broken = run(project, agents).run(&control);
    let minute = std::time::Duration::from_secs(60);
    assert!(
        tokio::time::timeout(minute, broken).await.is_err(),
        "it hangs"
    );
}

#[tokio::test(start_paused = true)]
async fn project_run_resumes_the_interrupted_run() {
    let project = TempProject::new();
    interrupt_in_session_2(&project).await;

    let agents = ScriptedBackend::resuming_at(2, [plans(), passes()]);
    let report = run(&project, agents)
        .run(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!((report.exit, report.sessions), (ExitReason::AllPassed, 2));
    assert_eq!(
        report.cost.unknown_parts, 1,
        "what the lost session cost is unknown"
    );
    let journal = project.journal();
    let histories = journal.run_histories();
    assert_eq!((histories.len(), histories[0].resumed), (1, 1));
    let timeline = RunTimeline::from_journal(&journal, &report.run).expect("it has lines");
    let starts = timeline.sessions.iter().map(|session| session.number);
    assert_eq!(starts.collect::<Vec<_>>(), [1, 2, 2]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_cannot_be_resumed_now_can_be_resumed_later() {
    let project = TempProject::new();
    interrupt_in_session_2(&project).await;
    let cancelled = RunControl::new();
    cancelled.cancel();
    let before = project.journal_text();

    let too_early = run(&project, ScriptedBackend::new([]))
        .run(&cancelled)
        .await
        .expect("it starts");

    assert_eq!(too_early.exit, ExitReason::Interrupted);
    let after = project.journal_text();
    assert_eq!(after, before, "it is interrupted as before");
    let agents = ScriptedBackend::resuming_at(2, [plans(), passes()]);
    let later = run(&project, agents)
        .run(&RunControl::new())
        .await
        .expect("it starts");
    assert_eq!((later.exit, later.sessions), (ExitReason::AllPassed, 2));
    assert_eq!(later.run, too_early.run);
}

/// Backend that is not available.
struct NotThere(AgentErrorKind);

#[async_trait]
impl AgentClientFactory for NotThere {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        let error = AgentError::new(self.0, "there is no agent here");
        Err(error.with_remedy("install one"))
    }

    fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Err(AgentError::new(self.0, "there is no agent here"))
    }
}

// Shows: beyond/run-that-could-not-begin
#[tokio::test(start_paused = true)]
async fn a_run_with_an_unusable_backend_does_not_start() {
    for kind in [AgentErrorKind::NotAvailable, AgentErrorKind::Authentication] {
        let project = TempProject::new();

        let report = ProjectRun::new(project.project().clone(), Arc::new(NotThere(kind)))
            .run(&RunControl::new())
            .await
            .expect("the project is fine");

        let ExitReason::Failed { error } = &report.exit else {
            panic!("{report:?}");
        };
        assert_eq!(error.code, kind.code());
        assert_eq!(error.remedy.as_deref(), Some("install one"));
        assert_eq!(project.journal_text(), "", "nothing was written down");
        assert_eq!(project.ledger(), None);
        assert_eq!(report.deliverables, None, "its ledger was not read");
        let counts = report.to_string().lines().last().map(str::to_owned);
        assert_eq!(counts.as_deref(), Some("0 iterations, 0s, $0.00"));
        let json = serde_json::to_value(&report).expect("JSON");
        assert_eq!(json.get("deliverablesTotalCount"), None);
        let read: RunReport = serde_json::from_value(json).expect("a report");
        assert_eq!(read.deliverables, None);
    }
}

/// Starts a run that cannot start, and returns the error.
async fn refusal(project: &TempProject, mode: Mode) -> ProjectRunError {
    run_with(options(project).mode(mode), ScriptedBackend::new([]))
        .run(&RunControl::new())
        .await
        .expect_err("something is in its way")
}

#[tokio::test(start_paused = true)]
async fn an_error_before_the_start_is_returned_and_changes_nothing() {
    let project = TempProject::new();
    let held = RunLock::acquire(project.project(), Timestamp::now()).expect("the lock is free");
    let locked = refusal(&project, Mode::Run).await;
    assert!(
        matches!(locked, ProjectRunError::Project(ProjectError::Locked(_))),
        "{locked}"
    );
    drop(held);

    let misspelt = TempProject::new().config(json!({"profil": "node"}));
    let config = refusal(&misspelt, Mode::Run).await;
    assert!(config.to_string().contains("profile"), "{config}");

    let scribbled = TempProject::new().file(".autonoe/journal.jsonl", "hello\n");
    let journal = refusal(&scribbled, Mode::Sync).await;
    assert!(matches!(journal, ProjectRunError::Journal(_)), "{journal}");
    assert_eq!(scribbled.journal_text(), "hello\n");

    let unspecified = TempProject::new();
    fs::remove_file(unspecified.path().join("SPEC.md")).expect("ours");
    let missing = refusal(&unspecified, Mode::Run).await;
    assert!(missing.to_string().contains("SPEC.md"), "{missing}");

    for project in [project, misspelt, scribbled, unspecified] {
        assert_eq!(project.ledger(), None);
    }
}
