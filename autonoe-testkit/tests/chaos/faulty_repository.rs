//! A repository whose nth call fails.

use std::sync::Arc;

use autonoe_core::{
    DeliverableRepository, Epoch, Fence, FixedInstructions, InstructionName, LedgerState,
    MemoryRepository, RepositoryErrorKind, RunControl, RunReport, SessionRunner,
};
use autonoe_testkit::conformance::deliverable_repository;
use autonoe_testkit::{
    FaultyRepository, RepositoryCall, ScriptedAgents, SessionScript, ToolUse, VirtualClock,
};
use jiff::civil::date;
use serde_json::json;

fn faulty(call: RepositoryCall, nth: usize) -> FaultyRepository {
    FaultyRepository::new(Arc::new(MemoryRepository::new())).with_fault_at(call, nth)
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
    let kept = repository.load().await.expect("load 2");
    let third = repository.save(&state, fence(Some(first.clone()))).await;

    assert_eq!(unread.kind(), RepositoryErrorKind::Unavailable);
    let unsaved = unsaved.expect_err("save 2 fails");
    assert_eq!(unsaved.kind(), RepositoryErrorKind::Unavailable);
    assert_eq!(kept.expect("save 1 is kept").revision, first);
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
        Arc::new(FaultyRepository::new(Arc::new(MemoryRepository::new()))) as Arc<_>
    })
    .await;

    report.assert();
    assert_eq!(report.skipped(), []);
}

/// Runs an agent that plans one deliverable, on `repository`.
async fn run(repository: &Arc<FaultyRepository>) -> (RunReport, Arc<ScriptedAgents>) {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let call = ToolUse::new("mcp__autonoe__create", plan);
    let call = call.expecting(autonoe_testkit::Expectation::Anything);
    let script = SessionScript::new("plans").calls(call).ends();
    let agents = Arc::new(ScriptedAgents::new([script]).unverified());
    let texts = [(InstructionName::Initializer, "Plan.")];
    let runner = SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(repository.clone())
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .clock(Arc::new(VirtualClock::new()))
        .max_iterations(1)
        .max_retries(0)
        .build()
        .expect("parts fit");
    (runner.run(&RunControl::new()).await, agents)
}

#[tokio::test(start_paused = true)]
async fn a_run_meets_the_fault_of_the_call_that_the_test_chooses() {
    let unreadable = Arc::new(faulty(RepositoryCall::Load, 1));

    let (report, agents) = run(&unreadable).await;

    assert_eq!(report.exit.code(), "failed", "{report}");
    assert!(report.to_string().contains("load 1"), "{report}");
    assert_eq!(unreadable.hits(), [(RepositoryCall::Load, 1)]);
    assert_eq!(agents.received().len(), 0);

    // The first save takes the ledger over; the second is the one of the agent's plan.
    let unwritable = Arc::new(faulty(RepositoryCall::Save, 2));
    let (report, _) = run(&unwritable).await;

    assert_eq!(unwritable.hits(), [(RepositoryCall::Save, 2)]);
    assert_ne!(report.exit.code(), "all_passed", "{report}");
    let ledger = unwritable.load().await.expect("readable").expect("saved");
    assert_eq!(ledger.state.ledger.deliverables().len(), 0);
}
