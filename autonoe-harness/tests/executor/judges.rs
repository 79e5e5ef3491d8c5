//! Tests of judges.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, CostTotal};
use autonoe_core::session::Judge;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, SessionSpec,
};
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{AnyOf, FileCriterion, JudgeCriterion, Verification};
use autonoe_harness::{AgentExecutor, Allowance, Executor};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;

use crate::executor::fixture::{Fixture, done, task, with_partial_gate};

const VERDICT: &str = "mcp__autonoe__verdict";

fn judges(passed: bool) -> SessionScript {
    SessionScript::new("judge")
        .expects_in_prompt("## Statement\nIt looks good.")
        .expects_in_prompt("Done.")
        .uses_tool(VERDICT, json!({"passed": passed, "reason": "I looked."}))
        .says("That is all.")
        .ends()
}

/// Judges on the backend of a fixture.
fn judges_of(judge: &Fixture) -> impl Fn(&Path) -> Arc<dyn Judge> + Send + Sync + use<> {
    let executor = judge.executor.clone();
    move |folder| executor.judge_in(folder)
}

async fn judged(judge: SessionScript) -> Verification {
    let worker = Fixture::new([done()]);
    let judge = Fixture::new([judge]);
    let executor = worker.executor.clone().statement_judge(judges_of(&judge));
    let task = task("Do it.").success_criteria("It looks good.");
    let result = worker.run(&task).await;

    executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await
}

#[tokio::test(start_paused = true)]
async fn a_verdict_is_reported_through_its_tool() {
    assert_eq!(
        judged(judges(true)).await,
        Verification::passed("I looked.")
    );
    assert_eq!(
        judged(judges(false)).await,
        Verification::failed("I looked.")
    );
}

#[tokio::test(start_paused = true)]
async fn the_session_of_a_judge_is_paid() {
    let worker = Fixture::new([done()]);
    let judge = Fixture::new([judges(true).costs(CostUsd::from_cents(12))]);
    let judged = worker.executor.clone();
    let executor = judged.statement_judge(judges_of(&judge));
    let task = task("Do it.").success_criteria("It looks good.");
    let result = worker.run(&task).await;
    let budget = VerificationBudget::new(Allowance::default().sessions(1));

    let verified = executor.verify_success(&task, &result, &budget).await;
    let unpaid = executor.verify_success(&task, &result, &budget).await;

    assert!(verified.is_success(), "{verified}");
    let spending = budget.spending();
    let cost = CostTotal::known(CostUsd::from_cents(12));
    assert_eq!((spending.spent.cost, spending.sessions), (cost, 1));
    // A session that cannot be paid does not start.
    assert!(
        matches!(unpaid, Verification::Unverified { .. }),
        "{unpaid}"
    );
    assert_eq!(judge.agents.prompts().len(), 1);
}

/// A backend that takes five seconds to start.
struct SlowBackend(ScriptedBackend);

#[async_trait]
impl AgentClientFactory for SlowBackend {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        self.0.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.0.create(spec)
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_judge_includes_the_start_of_its_backend() {
    let worker = Fixture::new([done()]);
    let judge = SessionScript::new("judge")
        .waits(Duration::from_secs(20))
        .uses_tool(VERDICT, json!({"passed": true, "reason": "I looked."}))
        .ends();
    let backend = SlowBackend(ScriptedBackend::new([judge]));
    let judge =
        AgentExecutor::new("slow", backend, worker.path()).clock(VirtualClock::in_real_time());
    let executor = worker.executor.clone();
    let executor = executor.statement_judge(move |folder| judge.judge_in(folder));
    let task = task("Do it.").success_criteria("It looks good.");
    let result = worker.run(&task).await;
    let budget = VerificationBudget::default();

    let verified = executor.verify_success(&task, &result, &budget).await;

    assert!(verified.is_success(), "{verified}");
    assert_eq!(budget.spending().spent.time, Duration::from_secs(25));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_judge_has_an_unknown_cost() {
    let worker = Fixture::new([done()]);
    let judge = Fixture::new([SessionScript::new("hang").says("Let me see.").hangs()]);
    let judged = worker.executor.clone();
    let executor = judged.statement_judge(judges_of(&judge));
    let task = task("Do it.").success_criteria("It looks good.");
    let result = worker.run(&task).await;
    let budget = VerificationBudget::default();

    let verifying = executor.verify_success(&task, &result, &budget);
    let cut_off = tokio::time::timeout(Duration::from_secs(5), verifying).await;

    assert!(cut_off.is_err());
    let spending = budget.spending();
    assert_eq!(
        (spending.spent.cost.unknown_parts, spending.sessions),
        (1, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_verdict_nothing_is_verified() {
    let verdict = json!({"passed": true, "reason": "I looked."});
    for judge in [
        SessionScript::new("prose")
            .says("Passed! The verdict is: yes.")
            .ends(),
        SessionScript::new("crash").fails(AgentErrorKind::Crashed, "it is gone"),
        SessionScript::new("hang").says("Let me see.").hangs(),
        // Stopped after its verdict, so it may not have seen everything.
        SessionScript::new("late")
            .uses_tool(VERDICT, verdict)
            .hangs(),
        SessionScript::new("quota").hits_quota(None),
    ] {
        let name = format!("{judge:?}");

        let verified = judged(judge).await;

        assert!(
            matches!(verified, Verification::Unverified { .. }),
            "{name}: {verified}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_statement_without_a_judge_is_not_verified() {
    let fixture = Fixture::new([done()]);
    let task = task("Do it.").success_criteria("It looks good.");

    let result = fixture.run(&task).await;
    let verified = fixture
        .executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;

    assert!(result.is_success());
    assert!(
        matches!(verified, Verification::Unverified { .. }),
        "{verified}"
    );
    assert!(fixture.agents.prompts()[0].ends_with("## Success Criteria\nIt looks good."));
}

#[tokio::test(start_paused = true)]
async fn a_judge_can_change_nothing_and_may_be_another_model() {
    let worker = Fixture::new([done()]);
    let task = task("Do it.").success_criteria(JudgeCriterion {
        model: Some("other".to_owned()),
        ..JudgeCriterion::new("It looks good.")
    });
    let result = worker.run(&task).await;
    let judge = Fixture::new([SessionScript::new("judge")
        .is_denied_by(
            "read-only",
            "Write",
            json!({"file_path": "a.txt", "content": "x"}),
        )
        .is_denied_by("read-only", "Bash", json!({"command": "touch a.txt"}))
        .uses_tool(
            VERDICT,
            json!({"passed": false, "reason": "It is not there."}),
        )
        .ends()]);
    let executor = worker.executor.clone().statement_judge(judges_of(&judge));

    let verified = executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;

    assert_eq!(verified, Verification::failed("It is not there."));
    assert_eq!(judge.agents.received()[0].model.as_deref(), Some("other"));
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_cannot_be_restricted_to_reading_does_not_judge() {
    let agents = ScriptedBackend::new([judges(true)])
        .with_capabilities(with_partial_gate())
        .unverified();
    let mut judge = Fixture::with_backend(agents);
    judge.executor = judge.executor.sessions(|builder| {
        builder.outer_sandbox(autonoe_core::agent::OuterSandbox {
            name: "a box".to_owned(),
        })
    });
    let worker = Fixture::new([done()]);
    let executor = worker.executor.clone().statement_judge(judges_of(&judge));
    let task = task("Do it.").success_criteria("It looks good.");
    let result = worker.run(&task).await;

    let verified = executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;

    assert!(
        matches!(verified, Verification::Unverified { .. }),
        "{verified}"
    );
    assert_eq!(judge.agents.received().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_criterion_that_is_decided_needs_no_judge() {
    let (fixture, judge) = (Fixture::new([done()]), Fixture::new([judges(true)]));
    let judged = fixture.executor.clone();
    let executor = judged.statement_judge(judges_of(&judge));
    for name in ["out.txt", "more.txt"] {
        std::fs::write(fixture.path().join(name), "x").expect("a file");
    }
    let task = task("Do it.").success_criteria(AnyOf::new([
        FileCriterion::new("out.txt").into(),
        "It looks good.".into(),
        FileCriterion::new("more.txt").into(),
    ]));

    let result = fixture.run(&task).await;
    let verified = executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;

    assert_eq!(verified.criteria_passed(), 2, "{verified}");
    assert_eq!(judge.agents.received().len(), 0);
}
