//! The journal, and runs that are resumed from it.

use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autonoe_core::{
    Activity, CostUsd, Durability, ExitReason, FileDeliverableRepository, FileJournal,
    FixedInstructions, InstructionName, Journal, JournalError, JournalLine, JournalReadError,
    OnQuota, Project, RunAction, RunControl, RunId, RunJournal, RunReport, SeededIds,
    SessionRunner, SessionRunnerBuilder, Verdict, WhyStopped,
};
use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
use jiff::Timestamp;
use serde_json::json;

/// A project in a folder that goes when the test ends.
struct Folder {
    project: Project,
    _dir: tempfile::TempDir,
}

impl Folder {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let project = Project::find(dir.path(), None).expect("it is there");
        Self { project, _dir: dir }
    }

    fn runner(&self, agents: ScriptedAgents, journal: Arc<dyn RunJournal>) -> SessionRunnerBuilder {
        let texts = InstructionName::BUILT_IN.map(|name| (name, "Do it."));
        let repository = FileDeliverableRepository::open(&self.project).expect("writable");
        SessionRunner::builder("/srv/project")
            .agents(Arc::new(agents))
            .repository(Arc::new(repository))
            .instructions(Arc::new(FixedInstructions::new(texts)))
            .bash_security(Arc::new(|_: &str| Verdict::Allow))
            .clock(Arc::new(VirtualClock::new()))
            .ids(Arc::new(SeededIds::new(7)))
            .on_quota(OnQuota::Wait)
            .journal(journal)
    }

    fn journal(&self) -> Arc<FileJournal> {
        Arc::new(FileJournal::open(&self.project).expect("writable"))
    }

    fn read(&self) -> Journal {
        Journal::read(&self.project.journal_path()).expect("it is whole")
    }

    fn text(&self) -> String {
        fs::read_to_string(self.project.journal_path()).expect("readable")
    }
}

fn create(ids: &[&str]) -> serde_json::Value {
    let deliverables: Vec<_> = ids
        .iter()
        .map(|id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]}))
        .collect();
    json!({ "deliverables": deliverables })
}

fn passes(id: &str) -> SessionScript {
    SessionScript::new(format!("passes {id}"))
        .uses_tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": id, "status": "passed"}),
        )
        .costs(CostUsd::from_cents(20))
        .ends()
}

/// A run with everything in it: planning, an error, a quota wait, a denied call.
fn scripts() -> Vec<SessionScript> {
    vec![
        SessionScript::new("plans")
            .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
            .costs(CostUsd::from_cents(10))
            .ends(),
        SessionScript::new("breaks off").says("working"),
        SessionScript::new("hits the quota")
            .says("working")
            .hits_quota("2026-01-01T05:00:00Z".parse().ok()),
        passes("A"),
        SessionScript::new("passes B")
            .is_denied("Write", json!({"file_path": "/etc/passwd", "content": ""}))
            .uses_tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "B", "status": "passed"}),
            )
            .costs(CostUsd::from_cents(20))
            .ends(),
    ]
}

async fn whole_run(folder: &Folder) -> RunReport {
    let agents = ScriptedAgents::new(scripts());
    let runner = folder
        .runner(agents, folder.journal())
        .build()
        .expect("parts fit");
    runner.run(&RunControl::new()).await
}

#[tokio::test(start_paused = true)]
async fn a_journal_tells_the_run_session_by_session() {
    let folder = Folder::new();

    let report = whole_run(&folder).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    let stories = folder.read().stories();
    assert_eq!(stories.len(), 1);
    let sessions: Vec<_> = stories[0]
        .sessions
        .iter()
        .map(|session| {
            let result = session.result.as_ref().expect("it ended");
            (
                session.number,
                session.instruction.to_string(),
                result.cost.to_string(),
                session.changes,
                session.denied,
            )
        })
        .collect();
    let row = |number, name: &str, cost: &str, changes, denied| {
        (number, name.to_owned(), cost.to_owned(), changes, denied)
    };
    assert_eq!(
        sessions,
        [
            row(1, "initializer", "$0.10", 2, 0),
            row(2, "coding", "at least $0.00 (1 unknown)", 0, 0),
            row(3, "coding", "$0.00", 0, 0),
            row(4, "coding", "$0.20", 1, 0),
            row(5, "coding", "$0.20", 1, 1),
        ]
    );
    assert_eq!(stories[0].why_did_it_stop(), &WhyStopped::Ended(report));
    assert_eq!(
        stories[0].why_did_it_stop().to_string(),
        "it ended: all achievable deliverables passed"
    );
}

#[tokio::test(start_paused = true)]
async fn two_runs_of_the_same_script_give_byte_identical_journals() {
    let (one, other) = (Folder::new(), Folder::new());

    whole_run(&one).await;
    whole_run(&other).await;

    assert_eq!(one.text(), other.text());
    insta::assert_snapshot!(one.text());
}

/// A journal that fails after some lines, as if the process were gone.
struct Dies {
    inner: Arc<FileJournal>,
    left: Mutex<usize>,
}

impl RunJournal for Dies {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut left = self.left.lock().expect("not poisoned");
        if *left == 0 {
            return Err(JournalError::new("the process is gone"));
        }
        *left -= 1;
        self.inner.append(run, at, line, durability)
    }
}

#[tokio::test(start_paused = true)]
async fn a_run_that_dies_after_any_line_of_its_journal_is_resumed_to_the_same_end() {
    let undisturbed = Folder::new();
    let expected = whole_run(&undisturbed).await;
    let ledger = |folder: &Folder| {
        let text = fs::read_to_string(folder.project.status_path()).expect("readable");
        let mut ledger: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        for counted in ["epoch", "revision"] {
            ledger.as_object_mut().expect("an object").remove(counted);
        }
        ledger
    };
    let lines = undisturbed.read().entries().len();

    for survived in 0..lines - 1 {
        let folder = Folder::new();
        let dies = Dies {
            inner: folder.journal(),
            left: Mutex::new(survived),
        };
        let agents = ScriptedAgents::new(scripts()).unverified();
        let runner = folder
            .runner(agents, Arc::new(dies))
            .build()
            .expect("parts fit");
        // What it says in the end nobody hears: its process is gone.
        runner.run(&RunControl::new()).await;

        let Some(recorded) = folder.read().broken_off() else {
            assert_eq!(survived, 0, "only a run without a line is not known");
            continue;
        };
        let lost = matches!(recorded.under_way(), RunAction::StartSession(_));
        // A session that is run again finds what its lost self has done.
        let agents = ScriptedAgents::new(tolerant_scripts()).unverified();
        let runner = folder
            .runner(agents, folder.journal())
            .build()
            .expect("parts fit");
        let resumed = runner.resume(recorded, &RunControl::new()).await;

        let at = format!("after line {survived}");
        assert_eq!(resumed.exit, expected.exit, "{at}");
        assert_eq!(resumed.run, expected.run, "{at}");
        assert_eq!((resumed.passed, resumed.total), (2, 2), "{at}");
        assert_eq!(ledger(&folder), ledger(&undisturbed), "{at}");
        assert_eq!((resumed.iterations, resumed.sessions), (4, 5), "{at}");
        // Exact, or it says what is unknown: the session that was lost.
        assert_eq!(resumed.cost.known_usd, expected.cost.known_usd, "{at}");
        let unknown = expected.cost.unknown_parts + u32::from(lost);
        assert_eq!(resumed.cost.unknown_parts, unknown, "{at}");
    }
}

/// The same sessions, which take it as it comes that their work is done already.
fn tolerant_scripts() -> Vec<SessionScript> {
    use autonoe_testkit::{Expectation, ToolUse};

    let mut all = scripts();
    all[0] = SessionScript::new("plans")
        .says("I look at the list first.")
        .calls(
            ToolUse::new("mcp__autonoe__create", create(&["A", "B"]))
                .expecting(Expectation::Anything),
        )
        .costs(CostUsd::from_cents(10))
        .ends();
    all
}

#[tokio::test(start_paused = true)]
async fn a_finished_run_is_not_resumed() {
    let folder = Folder::new();
    whole_run(&folder).await;

    assert_eq!(folder.read().broken_off(), None);
}

#[tokio::test(start_paused = true)]
async fn a_torn_last_line_is_left_out_and_cut_off() {
    let folder = Folder::new();
    whole_run(&folder).await;
    let whole = folder.text();
    for torn in ["{\"v\":1,\"run\":\"x", "{", "{\"v", "\0\0\0"] {
        fs::write(folder.project.journal_path(), format!("{whole}{torn}")).expect("writable");

        assert_eq!(folder.read().entries().len(), whole.lines().count());
        drop(folder.journal());

        assert_eq!(folder.text(), whole, "{torn}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_that_is_no_line_of_ours_is_an_error_and_stays() {
    let folder = Folder::new();
    whole_run(&folder).await;
    let whole = folder.text();
    for text in [
        format!("{whole}notes of a person"),
        "no line end at all".to_owned(),
    ] {
        fs::write(folder.project.journal_path(), &text).expect("writable");

        let read = Journal::read(&folder.project.journal_path());
        let opened = FileJournal::open(&folder.project);

        assert!(
            matches!(read, Err(JournalReadError::Corrupt { .. })),
            "{read:?}"
        );
        assert!(opened.is_err(), "{text:?} was opened");
        assert_eq!(folder.text(), text);
    }
}

#[test]
fn a_line_that_cannot_be_understood_is_an_error_with_its_number_and_stays() {
    let folder = Folder::new();
    folder.project.ensure_state_dir().expect("writable");
    for (text, kind) in [
        ("hello\n", "corrupt"),
        ("{}\n", "corrupt"),
        ("\n", "corrupt"),
        (
            "{\"v\":1,\"run\":\"x\",\"at\":\"2026-01-01T00:00:00Z\",\"line\":\"no_such\"}\n",
            "corrupt",
        ),
        ("{\"v\":99}\n", "version"),
    ] {
        fs::write(folder.project.journal_path(), text).expect("writable");

        let error = Journal::read(&folder.project.journal_path()).expect_err("not a journal");

        let found = match &error {
            JournalReadError::Corrupt { number: 1, .. } => "corrupt",
            JournalReadError::UnknownVersion { version: 99, .. } => "version",
            _ => "other",
        };
        assert_eq!(found, kind, "{text:?}: {error}");
        assert!(error.to_string().contains("line 1"), "{error}");
        assert_eq!(folder.text(), text);
    }
}

#[tokio::test(start_paused = true)]
async fn a_large_journal_is_put_aside_at_the_start_of_a_new_run() {
    let folder = Folder::new();
    whole_run(&folder).await;
    let line = format!("{}\n", folder.text().lines().next().expect("a line"));
    let large = line.repeat(17 * 1024 * 1024 / line.len());
    fs::write(folder.project.journal_path(), &large).expect("writable");

    drop(FileJournal::open_for_new_run(&folder.project).expect("writable"));

    assert_eq!(folder.text(), "");
    let aside = folder.project.state_dir().join("journal.1.jsonl");
    assert_eq!(
        fs::metadata(aside).expect("it is there").len(),
        large.len() as u64
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_broke_off_goes_on_until_its_time() {
    let folder = Folder::new();
    let agents = ScriptedAgents::new(scripts()).unverified();
    let runner = folder
        .runner(agents, folder.journal())
        .build()
        .expect("parts fit");
    // The process is gone an hour into the five hours of waiting.
    let control = RunControl::new();
    let run = runner.run(&control);
    let broke_off = tokio::time::timeout(Duration::from_secs(3600), run).await;
    assert!(broke_off.is_err(), "it waits");

    let recorded = folder.read().broken_off().expect("it broke off");
    let why = folder.read().stories()[0].why_did_it_stop().to_string();
    assert_eq!(
        why,
        "it broke off while it waited until 2026-01-01T05:00:00Z"
    );
    let agents = ScriptedAgents::resuming_at(4, scripts());
    // The clock of the test starts again at midnight.
    let runner = folder
        .runner(agents, folder.journal())
        .build()
        .expect("parts fit");
    let report = runner.resume(recorded, &RunControl::new()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert_eq!((report.iterations, report.sessions), (4, 5));
    assert_eq!(report.elapsed, Duration::from_secs(5 * 3600 + 3));
    assert_eq!(folder.read().stories()[0].resumed, 1);
    let last = &folder.read().stories()[0].sessions[4];
    assert_eq!(
        last.result.as_ref().map(|result| result.activity),
        Some(Activity::Some)
    );
}
