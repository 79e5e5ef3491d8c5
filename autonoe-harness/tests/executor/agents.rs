//! Tests of execution outcomes: they depend on the backend's events, never on the agent's claims.

use autonoe_core::CostUsd;
use autonoe_core::agent::{AgentErrorKind, CostTotal, SessionOutcome, Support, TokenUsage};
use autonoe_core::time::AgentSessionId;
use autonoe_harness::budget::VerificationBudget;
use autonoe_harness::executor::{ExecutionOutcome, Verification, follow_up_prompt, task_prompt};
use autonoe_harness::{Execution, Executor};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::json;

use crate::executor::fixture::{Fixture, done, task, with_partial_gate};

#[tokio::test(start_paused = true)]
async fn an_agent_receives_the_task_and_its_result_is_complete() {
    let used = TokenUsage {
        input: 7,
        output: 2,
        ..TokenUsage::default()
    };
    let fixture = Fixture::new([SessionScript::new("work")
        .says("I look.")
        .uses_tool("Read", json!({"file_path": "a.txt"}))
        .uses_tokens(used, None)
        .says("Done.")
        .costs(CostUsd::from_cents(3))
        .ends()]);
    let task = task("Do it.").context("It is a shop.").model("gpt-5.5");
    let execution = Execution {
        context: Some("Try again.".to_owned()),
        ..Execution::default()
    };

    let result = fixture.executor.run(&task, &execution).await;

    let result = result.expect("the task is right");
    assert!(result.is_success(), "{result:?}");
    assert_eq!(result.error(), None);
    assert_eq!(result.output, "I look.\n\nDone.");
    assert_eq!(result.answer, "Done.");
    assert_eq!(result.cli, "codex");
    assert_eq!(result.model.as_deref(), Some("gpt-5.5"));
    assert_eq!(result.conversation, Some(AgentSessionId::new("scripted-1")));
    assert_eq!(result.cost, CostTotal::known(CostUsd::from_cents(3)));
    assert_eq!(result.tokens, used);
    let prompt = "## Goal\nDo it.\n\n## Context\nIt is a shop.\n\nTry again.";
    assert_eq!(fixture.agents.prompts(), [prompt]);
    let received = fixture.agents.received();
    assert_eq!(received[0].model.as_deref(), Some("gpt-5.5"));
    assert_eq!(
        (fixture.agents.disposed(), fixture.agents.open_clients()),
        (1, 0)
    );
    let verified = fixture
        .executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;
    assert!(verified.is_success(), "{verified}");
}

#[tokio::test(start_paused = true)]
async fn the_model_is_the_one_that_is_named_nearest() {
    for (of_execution, of_task, expected) in [
        (None, None, "usual"),
        (None, Some("of-task"), "of-task"),
        (Some("of-execution"), Some("of-task"), "of-execution"),
    ] {
        let mut fixture = Fixture::new([done()]);
        fixture.executor = fixture.executor.model("usual");
        let mut task = task("Do it.");
        task.model = of_task.map(str::to_owned);
        let execution = Execution {
            model: of_execution.map(str::to_owned),
            ..Execution::default()
        };

        let result = fixture.executor.run(&task, &execution).await;

        let result = result.expect("the task is right");
        assert_eq!(result.model.as_deref(), Some(expected));
        let received = fixture.agents.received();
        assert_eq!(received[0].model.as_deref(), Some(expected));
        assert_eq!(fixture.executor.default_model(), Some("usual"));
    }
}

// Shows: fleets/executor/default-model
#[tokio::test(start_paused = true)]
async fn an_executor_without_a_model_leaves_it_to_the_backend() {
    let fixture = Fixture::new([done()]);

    let result = fixture.run(&task("Do it.")).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(fixture.executor.default_model(), None);
    assert_eq!(fixture.agents.received()[0].model, None);
}

// Shows: fleets/executor/detect-failure
#[tokio::test(start_paused = true)]
async fn prose_is_never_read_for_success_or_failure() {
    let failed = |messages: &[&str]| SessionOutcome::ExecutionError {
        messages: messages
            .iter()
            .map(|message| (*message).to_owned())
            .collect(),
    };
    for (prose, outcome, success) in [
        (
            "error: failed: Traceback, fatal: no",
            SessionOutcome::Completed,
            true,
        ),
        ("All done. Success! yes", failed(&["it crashed"]), false),
        ("Done.", failed(&[]), false),
        ("Done.", SessionOutcome::MaxTurns, false),
        ("Done.", SessionOutcome::BudgetExceeded, false),
        ("Done.", SessionOutcome::Interrupted, false),
    ] {
        let script = SessionScript::new("work")
            .says(prose)
            .ends_with(outcome.clone());
        let fixture = Fixture::new([script]);
        let task = task("Do it.");

        let result = fixture.run(&task).await;

        assert_eq!(result.is_success(), success, "{outcome:?}: {result:?}");
        assert_eq!(result.output, prose);
        assert_eq!(result.error().is_none(), success);
        let verified = fixture
            .executor
            .verify_success(&task, &result, &VerificationBudget::default())
            .await;
        assert_eq!(verified.is_success(), success, "{verified}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_empty_turn_is_no_success() {
    let fixture = Fixture::new([SessionScript::new("work").ends()]);

    let result = fixture.run(&task("Do it.")).await;

    assert!(
        matches!(&result.end, ExecutionOutcome::Failed { error } if error.code == "empty_session"),
        "{result:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_exhausted_quota_is_reported_with_its_reset_time() {
    let resets_at = "2026-01-31T18:00:00Z".parse().expect("a time");
    let fixture = Fixture::new([SessionScript::new("work")
        .says("Hm.")
        .hits_quota(Some(resets_at))]);

    let result = fixture.run(&task("Do it.")).await;

    let ExecutionOutcome::QuotaExceeded {
        resets_at: reported,
        ..
    } = &result.end
    else {
        panic!("{result:?}");
    };
    assert_eq!(*reported, Some(resets_at));
}

#[tokio::test(start_paused = true)]
async fn a_failed_backend_is_an_error_that_keeps_the_output() {
    let fixture = Fixture::new([SessionScript::new("work")
        .says("Half of")
        .fails(AgentErrorKind::Crashed, "it is gone")]);

    let result = fixture.run(&task("Do it.")).await;

    assert_eq!(result.output, "Half of");
    assert_eq!(result.error().as_deref(), Some("failed: it is gone"));
    assert_eq!(fixture.agents.open_clients(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_gate_decides_in_every_session() {
    let mut fixture = Fixture::new([SessionScript::new("work")
        .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
        .is_denied_by(
            "file-scope",
            "Write",
            json!({"file_path": "/etc/passwd", "content": "x"}),
        )
        .says("I could not.")
        .ends()]);
    // Without a policy, no command counts as harmless.
    fixture.executor = fixture.executor.sessions(|builder| builder);

    let result = fixture.run(&task("Do it.")).await;

    assert!(result.is_success());
    assert_eq!(result.denied, ["Bash", "Write"]);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_cannot_be_guarded_is_refused() {
    let agents = ScriptedBackend::new([done()])
        .with_capabilities(with_partial_gate())
        .unverified();
    let fixture = Fixture::with_backend(agents);
    let task = task("Do it.");

    let result = fixture.run(&task).await;

    assert!(
        matches!(&result.end, ExecutionOutcome::Failed { error } if error.code == "guards_not_enforced"),
        "{result:?}"
    );
    assert_eq!(fixture.agents.received().len(), 0);
    let verified = fixture
        .executor
        .verify_success(&task, &result, &VerificationBudget::default())
        .await;
    assert!(
        matches!(verified, Verification::Failed { .. }),
        "{verified}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_conversation_is_continued_if_the_backend_can_and_restarted_otherwise() {
    for resume in [Support::Yes, Support::No] {
        let agents = ScriptedBackend::new([done()]);
        let capabilities = agents.capabilities().clone().with_resume(resume);
        let fixture = Fixture::with_backend(agents.with_capabilities(capabilities));
        let earlier = AgentSessionId::new("earlier");
        let execution = Execution {
            context: Some("Two tests fail.".to_owned()),
            resume: Some(earlier.clone()),
            ..Execution::default()
        };
        let task = task("Do it.");

        let result = fixture.executor.run(&task, &execution).await;

        let result = result.expect("the task is right");
        assert!(result.is_success(), "{result:?}");
        assert_eq!(result.continued, resume.is_yes());
        let received = &fixture.agents.received()[0];
        let (prompt, resumed) = match resume {
            Support::Yes => (
                follow_up_prompt(&task, Some("Two tests fail.")),
                Some(earlier),
            ),
            _ => (task_prompt(&task, Some("Two tests fail.")), None),
        };
        assert_eq!((&received.prompt, &received.resume), (&prompt, &resumed));
    }
}
