//! Repository whose nth call fails.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{Fence, LedgerState, MemoryRepository, RepositoryErrorKind};
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::Epoch;
use autonoe_core::{DeliverableRepository, RunControl, RunReport, SessionRunner};
use autonoe_testkit::conformance::deliverable_repository;
use autonoe_testkit::{
    Expectation, FaultyRepository, RepositoryCall, ScriptedBackend, SessionScript, ToolUse,
    VirtualClock,
};
use jiff::civil::date;
use serde_json::json;

fn faulty(call: RepositoryCall, nth: usize) -> FaultyRepository {
    FaultyRepository::new(MemoryRepository::new()).with_fault_at(call, nth)
}

#[tokio::test]
async fn only_the_nth_call_fails_and_changes_nothing() {
    let repository = faulty(RepositoryCall::Save, 2).with_fault_at(RepositoryCall::Load, 1);
    let state = LedgerState::new(date(2026, 1, 31));
    let fence = |base| Fence {
        base,
        epoch: Epoch(1),
    };

    let unread = repository.load().await.expect_err("load 1 fails");
    let first = repository.save(&state, fence(None)).await.expect("save 1");
    let unsaved = repository.save(&state, fence(Some(first.clone()))).await;
    let saved = repository.load().await.expect("load 2");
    let third = repository.save(&state, fence(Some(first.clone()))).await;

    assert_eq!(unread.kind(), RepositoryErrorKind::Unavailable);
    let unsaved = unsaved.expect_err("save 2 fails");
    assert_eq!(unsaved.kind(), RepositoryErrorKind::Unavailable);
    assert_eq!(saved.expect("save 1 is kept").revision, first);
    assert!(third.is_ok(), "{third:?}");
    assert_eq!(
        repository.hits(),
        [(RepositoryCall::Load, 1), (RepositoryCall::Save, 2)]
    );
    assert_eq!(repository.calls(RepositoryCall::Load), 2);
    assert_eq!(repository.calls(RepositoryCall::Save), 3);
}

#[tokio::test(start_paused = true)]
async fn without_faults_it_conforms_as_the_wrapped_one_does() {
    let report = deliverable_repository(async || {
        Arc::new(FaultyRepository::new(MemoryRepository::new())) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.skipped(), []);
}

/// Runs an agent that plans one deliverable, on `repository`.
async fn run(repository: &Arc<FaultyRepository>) -> (RunReport, Arc<ScriptedBackend>) {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let call = ToolUse::new("mcp__autonoe__create", plan).expecting(Expectation::Anything);
    let script = SessionScript::new("plans").calls(call).ends();
    let agents = Arc::new(ScriptedBackend::new([script]).unverified());
    let texts = [(InstructionName::Initializer, "Plan.")];
    let runner = SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(repository.clone())
        .instructions(FixedInstructions::new(texts))
        .clock(VirtualClock::new())
        .max_iterations(1)
        .max_retries(0)
        .build()
        .expect("parts fit");
    (runner.run(&RunControl::new()).await, agents)
}

/// Returns the number of deliverables in the ledger.
async fn deliverables(repository: &FaultyRepository) -> usize {
    let ledger = repository.load().await.expect("readable").expect("saved");
    ledger.state.ledger.deliverables().len()
}

#[tokio::test(start_paused = true)]
async fn a_run_without_a_fault_saves_its_plan() {
    let repository = Arc::new(FaultyRepository::new(MemoryRepository::new()));

    let (report, _) = run(&repository).await;

    assert_eq!(report.exit.code(), "max_iterations", "{report}");
    assert_eq!(repository.hits(), []);
    assert_eq!(deliverables(&repository).await, 1);
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_cannot_be_read_ends_the_run_before_its_first_session() {
    let repository = Arc::new(faulty(RepositoryCall::Load, 1));

    let (report, agents) = run(&repository).await;

    assert_eq!(report.exit.code(), "failed", "{report}");
    assert!(report.to_string().contains("load 1"), "{report}");
    assert_eq!(repository.hits(), [(RepositoryCall::Load, 1)]);
    assert_eq!(agents.received().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_plan_that_cannot_be_saved_is_not_in_the_ledger() {
    // The first save takes over the ledger; the second one saves the agent's plan.
    let repository = Arc::new(faulty(RepositoryCall::Save, 2));

    let (report, _) = run(&repository).await;

    assert_eq!(repository.hits(), [(RepositoryCall::Save, 2)]);
    assert_eq!(report.exit.code(), "max_iterations", "{report}");
    assert_eq!(deliverables(&repository).await, 0);
}
