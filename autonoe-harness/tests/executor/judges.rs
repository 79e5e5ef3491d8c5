//! What a model judges.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{AgentErrorKind, CostTotal, CostUsd};
use autonoe_harness::{
    Allowance, AnyOf, Executor, FileCriterion, JudgeCriterion, Verification, VerificationTab,
};
use autonoe_testkit::{ScriptedAgents, SessionScript};
use serde_json::json;

use crate::executor::setting::{Stage, asks_sometimes, done, task};

const VERDICT: &str = "mcp__autonoe__verdict";

fn judges(passed: bool) -> SessionScript {
    SessionScript::new("judge")
        .expects_in_prompt("## Statement\nIt looks good.")
        .expects_in_prompt("Done.")
        .uses_tool(VERDICT, json!({"passed": passed, "reason": "I looked."}))
        .says("That is all.")
        .ends()
}

async fn judged(judge: SessionScript) -> Verification {
    let worker = Stage::new([done()]);
    let judge = Stage::new([judge]);
    let executor = worker
        .executor
        .clone()
        .judged_by(Arc::new(judge.executor.clone()));
    let task = task("Do it.").success("It looks good.");
    let result = worker.run(&task).await;

    executor.verify_success(&task, &result).await
}

#[tokio::test(start_paused = true)]
async fn a_verdict_comes_through_its_tool() {
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
    let worker = Stage::new([done()]);
    let judge = Stage::new([judges(true).costs(CostUsd::from_cents(12))]);
    let judged = worker.executor.clone();
    let executor = judged.judged_by(Arc::new(judge.executor.clone()));
    let task = task("Do it.").success("It looks good.");
    let result = worker.run(&task).await;
    let tab = VerificationTab::new(Allowance::default().with_sessions(1));

    let verified = executor.verify_on_tab(&task, &result, &tab).await;
    let unpaid = executor.verify_on_tab(&task, &result, &tab).await;

    assert!(verified.is_success(), "{verified}");
    let spending = tab.spending();
    let cost = CostTotal::known(CostUsd::from_cents(12));
    assert_eq!((spending.spent.cost, spending.sessions), (cost, 1));
    // Nothing begins that nobody pays.
    assert!(
        matches!(unpaid, Verification::Unverified { .. }),
        "{unpaid}"
    );
    assert_eq!(judge.agents.prompts().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_judge_that_is_cut_off_has_cost_something() {
    let worker = Stage::new([done()]);
    let judge = Stage::new([SessionScript::new("hang").says("Let me see.").hangs()]);
    let judged = worker.executor.clone();
    let executor = judged.judged_by(Arc::new(judge.executor.clone()));
    let task = task("Do it.").success("It looks good.");
    let result = worker.run(&task).await;
    let tab = VerificationTab::default();

    let looking = executor.verify_on_tab(&task, &result, &tab);
    let cut_off = tokio::time::timeout(Duration::from_secs(5), looking).await;

    assert!(cut_off.is_err());
    let spending = tab.spending();
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
        // It was stopped after its verdict, and nobody knows what else it would have found.
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
async fn words_without_a_judge_are_not_verified() {
    let stage = Stage::new([done()]);
    let task = task("Do it.").success("It looks good.");

    let result = stage.run(&task).await;
    let verified = stage.executor.verify_success(&task, &result).await;

    assert!(result.is_success());
    assert!(
        matches!(verified, Verification::Unverified { .. }),
        "{verified}"
    );
    assert!(stage.agents.prompts()[0].ends_with("## Success Criteria\nIt looks good."));
}

#[tokio::test(start_paused = true)]
async fn a_judge_can_change_nothing_and_may_be_another_model() {
    let worker = Stage::new([done()]);
    let task = task("Do it.").success(JudgeCriterion::new("It looks good.").by_model("other"));
    let result = worker.run(&task).await;
    let judge = Stage::new([SessionScript::new("judge")
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
    let executor = worker
        .executor
        .clone()
        .judged_by(Arc::new(judge.executor.clone()));

    let verified = executor.verify_success(&task, &result).await;

    assert_eq!(verified, Verification::failed("It is not there."));
    assert_eq!(judge.agents.received()[0].model.as_deref(), Some("other"));
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_cannot_be_held_to_reading_does_not_judge() {
    let agents = ScriptedAgents::new([judges(true)])
        .with_capabilities(asks_sometimes())
        .unverified();
    let mut judge = Stage::of(agents);
    judge.executor = judge.executor.sessions(|builder| {
        builder.outer_sandbox(autonoe_core::OuterSandbox {
            name: "a box".to_owned(),
        })
    });
    let worker = Stage::new([done()]);
    let executor = worker
        .executor
        .clone()
        .judged_by(Arc::new(judge.executor.clone()));
    let task = task("Do it.").success("It looks good.");
    let result = worker.run(&task).await;

    let verified = executor.verify_success(&task, &result).await;

    assert!(
        matches!(verified, Verification::Unverified { .. }),
        "{verified}"
    );
    assert_eq!(judge.agents.received().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_another_criterion_can_tell_needs_no_judge() {
    let (stage, judge) = (Stage::new([done()]), Stage::new([judges(true)]));
    let judged = stage.executor.clone();
    let executor = judged.judged_by(Arc::new(judge.executor.clone()));
    for name in ["out.txt", "more.txt"] {
        std::fs::write(stage.path().join(name), "x").expect("a file");
    }
    let task = task("Do it.").success(AnyOf::new([
        FileCriterion::new("out.txt").into(),
        "It looks good.".into(),
        FileCriterion::new("more.txt").into(),
    ]));

    let result = stage.run(&task).await;
    let verified = executor.verify_success(&task, &result).await;

    assert_eq!(verified.criteria_passed(), 2, "{verified}");
    assert_eq!(judge.agents.received().len(), 0);
}
