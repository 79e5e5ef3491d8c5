//! Tests of time limits, budgets and cancellation.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, BudgetKind, CostTotal, Support, TokenUsage};
use autonoe_core::time::AgentSessionId;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Budget, Capabilities, CostUsd, RunControl,
    SessionSpec,
};
use autonoe_harness::executor::{ExecutionOutcome, task_prompt};
use autonoe_harness::{AgentExecutor, Execution, Executor};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};

use crate::executor::fixture::{Fixture, done, task};

/// An execution that continues an earlier conversation.
fn resumed() -> Execution {
    Execution {
        resume: Some(AgentSessionId::new("earlier")),
        ..Execution::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_that_takes_too_long_is_stopped_and_keeps_its_output() {
    let fixture = Fixture::new([SessionScript::new("work").says("I begin.").hangs()]);
    let task = task("Do it.").timeout(Duration::from_secs(90));

    let result = fixture.run(&task).await;

    assert_eq!(result.end, ExecutionOutcome::TimedOut { after_seconds: 90 });
    assert_eq!(result.output, "I begin.");
    assert_eq!(result.duration, Duration::from_secs(90));
    assert!(!result.is_success());
    assert_eq!(
        (fixture.agents.disposed(), fixture.agents.open_clients()),
        (1, 0)
    );
}

/// A backend whose probe never returns.
struct NeverThere;

#[async_trait]
impl AgentClientFactory for NeverThere {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        std::future::pending().await
    }

    fn create(&self, _: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        unreachable!("it was not looked at")
    }
}

#[tokio::test(start_paused = true)]
async fn a_blank_model_is_refused_by_the_name_of_its_call() {
    let executor = AgentExecutor::new("slow", NeverThere, std::env::temp_dir()).model(" ");

    let refused = executor.run(&task("Do it."), &Execution::default()).await;

    let error = refused.expect_err("it has no name");
    let source = std::error::Error::source(&error).expect("a cause");
    assert!(source.to_string().starts_with(".model(..): "), "{source}");
}

#[tokio::test(start_paused = true)]
async fn probing_the_backend_counts_towards_the_timeout() {
    let executor = AgentExecutor::new("slow", NeverThere, std::env::temp_dir())
        .clock(Arc::new(VirtualClock::new()));
    let task = task("Do it.").timeout(Duration::from_secs(5));

    let result = executor.run(&task, &Execution::default()).await;

    let result = result.expect("the task is right");
    assert_eq!(result.end, ExecutionOutcome::TimedOut { after_seconds: 5 });
    assert_eq!(result.duration, Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_task_that_is_cancelled_ends_at_once() {
    let fixture = Fixture::new([SessionScript::new("work").says("I begin.").hangs()]);
    let control = RunControl::new();
    let execution = Execution::new(&control);
    let task = task("Do it.");

    let (result, ()) = tokio::join!(fixture.executor.run(&task, &execution), async {
        tokio::time::sleep(Duration::from_secs(3)).await;
        control.cancel();
    });

    let result = result.expect("the task is right");
    assert_eq!(result.end, ExecutionOutcome::Cancelled);
    assert_eq!(result.output, "I begin.");
    assert_eq!(
        (fixture.agents.disposed(), fixture.agents.open_clients()),
        (1, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_task_that_was_cancelled_before_does_not_begin() {
    let control = RunControl::new();
    control.cancel();
    let fixture = Fixture::new([]);

    let result = fixture
        .executor
        .run(&task("Do it."), &Execution::new(&control))
        .await;

    assert_eq!(
        result.expect("the task is right").end,
        ExecutionOutcome::Cancelled
    );
}

/// A backend that reports the cost of one of its models.
struct OnePriced(Arc<ScriptedBackend>);

#[async_trait]
impl AgentClientFactory for OnePriced {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.0.probe().await
    }

    fn cost_of(&self, model: &str) -> Option<Support> {
        Some(if model == "priced" {
            Support::Yes
        } else {
            Support::No
        })
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.0.create(spec)
    }
}

#[tokio::test(start_paused = true)]
async fn a_money_budget_is_refused_for_a_model_of_unknown_price() {
    for (model, success) in [("priced", true), ("other", false)] {
        let agents = Arc::new(ScriptedBackend::new([done()]).unverified());
        let executor = AgentExecutor::new("x", Arc::new(OnePriced(agents)), std::env::temp_dir())
            .clock(Arc::new(VirtualClock::new()))
            .sessions(|builder| {
                builder.budget(Budget::default().with_cost(CostUsd::from_cents(50)))
            });

        let result = executor
            .run(&task("Do it.").model(model), &Execution::default())
            .await;

        let result = result.expect("the task is right");
        assert_eq!(result.is_success(), success, "{result:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_money_budget_stops_a_task_in_the_middle() {
    let used = TokenUsage {
        input: 10,
        ..TokenUsage::default()
    };
    let mut fixture = Fixture::new([SessionScript::new("work")
        .says("I begin.")
        .uses_tokens(used, Some(CostUsd::from_cents(60)))
        .hangs()]);
    fixture.executor = fixture
        .executor
        .sessions(|builder| builder.budget(Budget::default().with_cost(CostUsd::from_cents(50))));

    let result = fixture.run(&task("Do it.")).await;

    let spent = ExecutionOutcome::BudgetSpent {
        budget: Some(BudgetKind::Cost),
    };
    assert_eq!(result.end, spent);
    assert_eq!(result.cost.known_usd, CostUsd::from_cents(60));
    assert_eq!(fixture.agents.open_clients(), 0);
}

/// A backend that has lost all conversations, and takes ten seconds to start.
struct Forgetful(Arc<ScriptedBackend>);

#[async_trait]
impl AgentClientFactory for Forgetful {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Ok(self.0.probe().await?.with_resume(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        match &spec.resume {
            Some(id) => Err(AgentError::new(
                AgentErrorKind::Configuration,
                format!("there is no conversation {id}"),
            )),
            None => self.0.create(spec),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_lost_conversation_is_replaced_in_the_same_execution_and_its_time() {
    let script = SessionScript::new("work").says("I begin.");
    for (script, end) in [
        (script.clone().ends(), ExecutionOutcome::Completed),
        (
            script.hangs(),
            ExecutionOutcome::TimedOut { after_seconds: 90 },
        ),
    ] {
        let agents = Arc::new(ScriptedBackend::new([script.costs(CostUsd::from_cents(3))]));
        let mut fixture = Fixture::new([]);
        fixture.executor = AgentExecutor::new("x", Forgetful(agents.clone()), fixture.path())
            .clock(VirtualClock::in_real_time());
        let task = task("Do it.").timeout(Duration::from_secs(90));
        let execution = resumed();

        let result = fixture.executor.run(&task, &execution).await;

        let result = result.expect("the task is right");
        assert_eq!((&result.end, result.continued), (&end, false));
        assert_eq!(agents.prompts(), [task_prompt(&task, None)]);
        let (seconds, cost) = match end {
            ExecutionOutcome::Completed => (20, CostTotal::known(CostUsd::from_cents(3))),
            _ => (90, CostTotal::unknown()),
        };
        assert_eq!(result.duration, Duration::from_secs(seconds));
        assert_eq!(result.cost, cost);
    }
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_was_resumed_and_failed_is_not_replaced() {
    let agents = ScriptedBackend::new([
        SessionScript::new("work").fails(AgentErrorKind::Overloaded, "no answer")
    ]);
    let capabilities = agents.capabilities().clone().with_resume(Support::Yes);
    let fixture = Fixture::with_backend(agents.with_capabilities(capabilities));
    let execution = resumed();

    let result = fixture.executor.run(&task("Do it."), &execution).await;

    let result = result.expect("the task is right");
    assert!(
        matches!(result.end, ExecutionOutcome::Failed { .. }),
        "{result:?}"
    );
    assert!(result.continued);
    assert_eq!(fixture.agents.received().len(), 1);
}
