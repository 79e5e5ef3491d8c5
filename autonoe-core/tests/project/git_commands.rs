//! Ordinary Git commands in a project, during a run and between runs, with the real Git.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use autonoe_core::project::{
    FileDeliverableRepository, Journal, OpenProject, ProjectRunError, RunLock,
};
use autonoe_core::run::JournalLine;
use autonoe_core::time::SeededIds;
use autonoe_core::{DeliverableStatus, ExitReason, Project, ProjectRun, RunControl, RunReport};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The first arguments of each command.
pub(super) const ARGUMENTS: [&str; 4] = ["-c", "user.name=A", "-c", "user.email=a@example.com"];

/// Ignores the Git settings of the machine.
pub(super) const ENVIRONMENT: [(&str, &str); 2] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
];

fn git(project: &Path, arguments: &str) -> String {
    let output = Command::new("git")
        .args(ARGUMENTS)
        .args(arguments.split_whitespace())
        .current_dir(project)
        .envs(ENVIRONMENT)
        .output()
        .expect("git is installed");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

/// Creates a repository with `SPEC.md` in its first commit, and a branch `other` there.
pub(super) fn repository() -> TempProject {
    let project = TempProject::new();
    git(project.path(), "init -q -b main");
    git(project.path(), "add SPEC.md");
    git(project.path(), "commit -q -m first");
    git(project.path(), "branch other");
    project
}

pub(super) fn plans() -> SessionScript {
    let one = |id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]});
    let plan = json!({"deliverables": [one("A"), one("B")]});
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", plan)
        .ends()
}

pub(super) const SET_STATUS: &str = "mcp__autonoe__set_status";

pub(super) fn passed(id: &str) -> Value {
    json!({"deliverableId": id, "status": "passed"})
}

pub(super) fn passes(id: &str) -> SessionScript {
    SessionScript::new("passes")
        .uses_tool(SET_STATUS, passed(id))
        .ends()
}

/// Passes A, then runs these commands outside of the Bash policy.
fn passes_a_and_runs(commands: &'static [&'static str]) -> SessionScript {
    SessionScript::new("uses git")
        .performs(|project| fs::write(project.join("code.txt"), "code").expect("writable"))
        .uses_tool(SET_STATUS, passed("A"))
        .performs(move |project| {
            for command in commands {
                git(project, command);
            }
        })
        .says("ok")
        .ends()
}

async fn start(
    project: &TempProject,
    scripts: impl IntoIterator<Item = SessionScript>,
) -> Result<RunReport, ProjectRunError> {
    ProjectRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        Arc::new(ScriptedBackend::new(scripts)),
    )
    .configure(|runner| runner.ids(Arc::new(SeededIds::new(1))))
    .run(&RunControl::new())
    .await
}

pub(super) async fn run(
    project: &TempProject,
    scripts: impl IntoIterator<Item = SessionScript>,
) -> RunReport {
    start(project, scripts).await.expect("it starts")
}

pub(super) fn restored(project: &TempProject) -> usize {
    let journal = Journal::read(&project.project().journal_path()).expect("readable");
    let entries = journal.entries().iter();
    entries
        .filter(|entry| matches!(entry.line, JournalLine::LedgerRestored { .. }))
        .count()
}

pub(super) fn statuses(project: &TempProject) -> Vec<DeliverableStatus> {
    let ledger = project.ledger().expect("there").ledger;
    let all = ledger.deliverables().iter();
    all.map(|deliverable| deliverable.status()).collect()
}

/// Commands that do not change the state, because Git ignores it.
pub(super) const HARMLESS: [&[&str]; 6] = [
    &["stash -q -u"],
    &["stash -q -u", "stash pop -q"],
    &["clean -q -fd", "clean -q -fd"],
    &["add -A", "reset -q --hard"],
    &["add -A", "commit -q -m code", "checkout -q other"],
    &["add -A", "checkout -q other", "clean -q -fd", "stash -q -u"],
];

#[tokio::test(start_paused = true)]
async fn commands_in_a_run_leave_its_state_alone() {
    for commands in HARMLESS {
        let project = repository();

        let report = run(
            &project,
            [plans(), passes_a_and_runs(commands), passes("B")],
        )
        .await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{commands:?}");
        assert_eq!(restored(&project), 0, "{commands:?}");
        assert_eq!(
            statuses(&project),
            [DeliverableStatus::Passed; 2],
            "{commands:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn commands_between_runs_leave_the_state_alone() {
    for commands in HARMLESS {
        let project = repository();
        let first = run(&project, [plans(), passes("A"), passes("B")]).await;
        assert_eq!(first.exit, ExitReason::AllPassed);
        fs::write(project.path().join("code.txt"), "code").expect("writable");
        for command in commands {
            git(project.path(), command);
        }
        // Nothing to stash is no reason to plan again.

        let second = run(&project, []).await;

        assert_eq!(second.exit, ExitReason::AllPassed, "{commands:?}");
        assert_eq!(second.sessions, 0, "{commands:?}");
    }
}

/// Commits the ledger although Git ignores it.
pub(super) fn commit_ledger(project: &Path) {
    git(project, "add -f .autonoe/status.json");
    git(project, "commit -q -m ledger");
}

#[tokio::test(start_paused = true)]
async fn restoring_an_older_ledger_from_git_does_not_remove_an_acknowledged_pass() {
    for command in [
        "checkout HEAD -- .autonoe/status.json",
        "reset -q --hard",
        "stash -q",
        "checkout -q -f other",
    ] {
        let project = repository();
        let second = SessionScript::new("uses git")
            .performs(commit_ledger)
            .uses_tool(SET_STATUS, passed("A"))
            .performs(move |project| drop(git(project, command)))
            .says("ok")
            .ends();

        let report = run(&project, [plans(), second, passes("B")]).await;

        assert_eq!(report.exit, ExitReason::AllPassed, "{command}");
        assert_eq!(restored(&project), 1, "{command}");
        assert_eq!(
            statuses(&project),
            [DeliverableStatus::Passed; 2],
            "{command}"
        );
    }
}

/// Returns the code of the failure that the run ended with.
fn code(report: &RunReport) -> &str {
    match &report.exit {
        ExitReason::Failed { error } => &error.code,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_clean_of_ignored_files_stops_the_run_and_leaves_its_ledger() {
    let project = repository();

    let broken = run(&project, [plans(), passes_a_and_runs(&["clean -q -fdx"])]).await;

    assert_eq!(code(&broken), "ledger_missing");
    let text = broken.exit.to_string();
    assert!(text.contains("The ledger was written again"), "{text}");
    let expected = [DeliverableStatus::Passed, DeliverableStatus::Pending];
    assert_eq!(statuses(&project), expected);
    assert!(!git(project.path(), "status --porcelain").contains("status.json"));

    let next = run(&project, [passes("B")]).await;
    assert_eq!(next.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_clean_of_ignored_files_beside_tracked_settings_leaves_the_ledger_too() {
    let project = repository().config("{}");
    git(project.path(), "add .autonoe/agent.json");
    git(project.path(), "commit -q -m settings");

    let broken = run(&project, [plans(), passes_a_and_runs(&["clean -q -fdx"])]).await;

    assert_eq!(code(&broken), "journal_unavailable");
    let expected = [DeliverableStatus::Passed, DeliverableStatus::Pending];
    assert_eq!(statuses(&project), expected);

    let next = run(&project, [passes("B")]).await;
    assert_eq!(next.exit, ExitReason::AllPassed);
}

#[tokio::test(start_paused = true)]
async fn a_branch_without_the_committed_ledger_is_an_error_and_no_new_plan() {
    let project = repository();
    run(&project, [plans(), passes("A"), passes("B")]).await;
    commit_ledger(project.path());
    git(project.path(), "checkout -q other");

    let refused = start(&project, [])
        .await
        .expect_err("its ledger is missing");

    assert!(
        refused.to_string().contains("status.json is missing"),
        "{refused}"
    );
    git(project.path(), "checkout -q main");
    let back = run(&project, []).await;
    assert_eq!(back.exit, ExitReason::AllPassed);
}

/// A function that creates the state folder.
type Creates = fn(&Project);

const CREATES: [(&str, Creates); 3] = [
    ("the folder alone", |project| {
        project.ensure_state_dir().expect("writable");
    }),
    ("the run lock", |project| {
        RunLock::acquire(project, Timestamp::UNIX_EPOCH).expect("the lock is free");
    }),
    ("the ledger", |project| {
        FileDeliverableRepository::open(project).expect("writable");
    }),
];

/// State of runs, which Git must not track.
const STATE: [&str; 10] = [
    "status.json",
    "status.json.tmp",
    "status.lock",
    "status.foreign-1.json",
    "status.foreign-12.json",
    "status.fenced-1.json",
    "run.lock",
    "journal.jsonl",
    "journal.1.jsonl",
    ".gitignore",
];

/// Files that belong into the repository.
const SETTINGS: [&str; 6] = [
    "agent.json",
    "agent.schema.json",
    "models.json",
    "coding.md",
    "flows/review/flow.json",
    "prompts/own.md",
];

#[test]
fn every_creator_of_the_state_folder_keeps_only_its_state_out_of_git() {
    for (case, create) in CREATES {
        let project = repository();
        create(project.project());
        let state = project.project().state_dir();
        for name in STATE
            .iter()
            .chain(&SETTINGS)
            .filter(|name| **name != ".gitignore")
        {
            let path = state.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(path, "x").expect("writable");
        }

        git(project.path(), "add -A");

        let tracked = git(project.path(), "ls-files .autonoe");
        let mut expected = SETTINGS.map(|name| format!(".autonoe/{name}\n"));
        expected.sort();
        assert_eq!(tracked, expected.concat(), "{case}");
    }
}
