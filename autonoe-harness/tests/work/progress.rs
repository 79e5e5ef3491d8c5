//! Tests of what counts as progress.

use std::path::Path;
use std::process::Command;

use autonoe_core::ledger::{DeliverableId, Fence, LedgerState};
use autonoe_core::project::FileDeliverableRepository;
use autonoe_core::time::Epoch;
use autonoe_core::{Deliverable, DeliverableRepository, DeliverableStatus};
use autonoe_harness::recovery::Ladder;
use autonoe_harness::stuck::StuckReason;
use autonoe_harness::work::{WorkEvent, WorkOrder};
use autonoe_testkit::SessionScript;
use serde_json::json;

use crate::work::fixture::{Fixture, Turns, does_it, order, task, text_turn};

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("git");
    assert!(done.status.success(), "{done:?}");
}

/// An order in which only changes of files count.
fn only_files() -> WorkOrder {
    let mut order = order([task("T-1")]);
    order.ladder = Ladder::none();
    order.weights.output_diff = 0.0;
    order.thresholds.identical_outputs = 0;
    order.thresholds.runaway_outputs = 0;
    order
}

#[tokio::test(start_paused = true)]
async fn lesson_10_commits_and_untracked_files_are_progress() {
    let works = |commits: bool| {
        move |number: usize| {
            SessionScript::new("turn")
                .performs(move |folder| {
                    let file = folder.join(format!("{number}.txt"));
                    std::fs::write(file, "line\n".repeat(60)).expect("a file");
                    if commits {
                        git(folder, &["add", "--all"]);
                        git(folder, &["commit", "--quiet", "-m", "work"]);
                    }
                })
                .says("Same.")
                .waits(std::time::Duration::from_secs(60))
                .ends()
        }
    };
    for commits in [true, false] {
        let turns = Turns::new((0..5).map(works(commits)).chain([does_it()]));
        let fixture = Fixture::new(&turns);
        git(fixture.folder.path(), &["init", "--quiet"]);

        let (outcome, _) = fixture.run(&only_files()).await;

        assert!(outcome.is_success(), "{outcome:?}");
        assert!(
            fixture.scores()[..5].iter().all(|score| *score > 0.15),
            "{:?}",
            fixture.scores()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_changes_is_stuck_after_three_turns() {
    let turns = Turns::new([text_turn("Same."), text_turn("Same."), text_turn("Same.")]);
    let fixture = Fixture::new(&turns);

    let (outcome, result) = fixture.run(&only_files()).await;

    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    assert!(error.contains("3 iterations without progress"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn repeated_markers_and_check_lists_count_in_each_signal_and_do_not_hide_a_stuck_agent() {
    let claims = |number: usize| {
        let half = "<progress>a</progress><progress>b</progress>\n- [x] one\n- [ ] two";
        text_turn(&format!("Turn {number}: {half}"))
    };
    let turns = Turns::new((1..=4).map(claims));
    let fixture = Fixture::new(&turns);

    let (outcome, result) = fixture.run(&only_files()).await;

    let signals = fixture
        .events()
        .into_iter()
        .filter_map(|event| match event {
            WorkEvent::IterationEnded { signal, .. } => {
                Some((signal.explicit_markers, signal.checklist_progress))
            }
            _ => None,
        });
    let signals: Vec<_> = signals.collect();
    let expected = (vec!["a".to_owned(), "b".to_owned()], 0.5);
    assert_eq!(signals, vec![expected; 4]);
    // 0.25 for two markers, and half of 0.15.
    assert!(
        fixture
            .scores()
            .iter()
            .all(|score| (score - 0.325).abs() < 1e-9)
    );
    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    assert!(error.contains("3 iterations without progress"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn denied_calls_are_counted_apart() {
    let denied = |text: &str| {
        SessionScript::new("turn")
            .is_denied_by(
                "file-scope",
                "Write",
                json!({"file_path": "/etc/passwd", "content": "x"}),
            )
            .says(text)
            .waits(std::time::Duration::from_secs(60))
            .ends()
    };
    let turns = Turns::new([denied("a"), denied("b"), denied("c"), does_it()]);
    let fixture = Fixture::new(&turns);
    let mut order = only_files();
    order.ladder = Ladder::default();

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fixture.recoveries(), ["constrain"]);
    let denials = fixture
        .events()
        .into_iter()
        .filter_map(|event| match event {
            WorkEvent::IterationEnded { denied, stuck, .. } => Some((denied, stuck.reasons)),
            _ => None,
        });
    let denials: Vec<_> = denials.collect();
    assert_eq!(denials[2], (1, vec![StuckReason::Denied(3)]));
    assert_eq!(denials[3].0, 0);
}

/// Returns a ledger of two deliverables, of which this many passed, in its file format.
async fn ledger_with(passed: usize) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("status.json");
    let today = jiff::civil::date(2026, 1, 31);
    let mut state = LedgerState::new(today);
    let ids = ["DL-001", "DL-002"].map(|id| DeliverableId::new(id).expect("an id"));
    let plan = ids
        .clone()
        .map(|id| Deliverable::new(id, "It.", ["it is"]).expect("whole"));
    state.ledger.create(plan, today).expect("new");
    for id in &ids[..passed] {
        let done = state
            .ledger
            .set_status(id, DeliverableStatus::Passed, today);
        done.expect("it is there");
    }
    let fence = Fence {
        base: None,
        epoch: Epoch(1),
    };
    let repository = FileDeliverableRepository::from_path(&path);
    repository.save(&state, fence).await.expect("writable");
    std::fs::read(path).expect("there")
}

// Shows: fleets/progress/ledger
#[tokio::test(start_paused = true)]
async fn passed_deliverables_are_progress() {
    let writes = |ledger: Vec<u8>| {
        SessionScript::new("turn")
            .performs(move |folder| {
                std::fs::create_dir_all(folder.join(".autonoe")).expect("a folder");
                std::fs::write(folder.join(".autonoe/status.json"), &ledger).expect("a file");
            })
            .says("Same.")
            .waits(std::time::Duration::from_secs(60))
            .ends()
    };
    let ledgers = [
        ledger_with(0).await,
        ledger_with(1).await,
        ledger_with(1).await,
    ];
    let turns = Turns::new(ledgers.into_iter().map(writes).chain([does_it()]));
    let fixture = Fixture::new(&turns);
    let mut order = only_files();
    order.weights.file_changes = 0.0;

    let (outcome, _) = fixture.run(&order).await;

    assert!(outcome.is_success(), "{outcome:?}");
    assert_eq!(fixture.scores()[..3], [0.0, 0.5, 0.0]);
}
