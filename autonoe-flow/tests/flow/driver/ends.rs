//! Ends of a flow before its steps end: operators, budgets, quotas.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::{AgentErrorKind, BudgetKind, SessionOutcome, Support};
use autonoe_core::{Budget, CostUsd, OnQuota};
use autonoe_flow::check::CommandOutcome;
use autonoe_flow::definition::StepEscalation;
use autonoe_flow::escalation::{Notice, Notifiers};
use autonoe_flow::{CommandRunner, FlowError, FlowErrorKind, FlowLimits, Notifier};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::{Value, json};

use super::{Fixture, build, checked, codes, judges, text_session};
use crate::support::{agent, definition, step};

const MINUTE: Duration = Duration::from_secs(60);

fn two_steps() -> Value {
    json!({"entryStep": "a", "steps": {"a": step("b"), "b": step("end")}})
}

fn costs(cents: u64) -> SessionScript {
    SessionScript::new("works")
        .says("done")
        .costs(CostUsd::from_cents(cents))
        .ends()
}

fn money(cents: u64) -> FlowLimits {
    FlowLimits {
        budget: Budget::default().with_cost(CostUsd::from_cents(cents)),
        ..FlowLimits::default()
    }
}

#[tokio::test(start_paused = true)]
async fn cancel_stops_flow_during_a_session() {
    let fixture =
        Fixture::with(ScriptedBackend::new([SessionScript::new("hangs").hangs()]).unverified());
    let created = build(definition(agent(json!({})), two_steps()), fixture.options());
    let started = created
        .expect("everything is there")
        .start(fixture.start())
        .await;
    let mut started = started.expect("it starts");
    let control = fixture.control.clone();

    let cancel = async {
        tokio::time::sleep(MINUTE).await;
        control.cancel();
    };
    tokio::join!(started.run(), cancel);

    assert_eq!(codes(&started.stop()), ["interrupted"]);
    assert_eq!(
        (fixture.agents.open_clients(), fixture.agents.disposed()),
        (0, 1)
    );
}

#[tokio::test(start_paused = true)]
async fn cancel_stops_flow_during_a_wait() {
    let fixture = Fixture::new([SessionScript::new("limited").hits_quota(None)]);
    let limits = FlowLimits {
        on_quota: OnQuota::Wait,
        ..FlowLimits::default()
    };
    let flow = definition(agent(json!({})), two_steps());
    let created = build(flow, fixture.options().limits(limits)).expect("everything is there");
    let mut started = created.start(fixture.start()).await.expect("it starts");
    let control = fixture.control.clone();

    let cancel = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        control.cancel();
    };
    tokio::join!(started.run(), cancel);

    let result = started.stop();
    assert_eq!(codes(&result), ["interrupted"]);
    assert_eq!(result.elapsed, Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn a_flow_that_is_cancelled_before_it_starts_does_not_begin() {
    let fixture = Fixture::new([]);
    let created = build(definition(agent(json!({})), two_steps()), fixture.options());
    fixture.control.cancel();

    let error = created
        .expect("everything is there")
        .start(fixture.start())
        .await;

    assert_eq!(
        error.expect_err("it was cancelled").kind(),
        FlowErrorKind::Interrupted
    );
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_waited_for_in_virtual_time_also_by_a_judge() {
    let fixture = Fixture::new([
        SessionScript::new("limited").hits_quota(None),
        text_session("draft"),
        SessionScript::new("limited").hits_quota(None),
        judges(true),
    ]);
    let a = checked("end", json!({"type": "prompt", "prompt": "prompts/a.md"}));
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );
    let limits = FlowLimits {
        on_quota: OnQuota::Wait,
        ..FlowLimits::default()
    };

    let result = fixture
        .run_with(flow, fixture.options().limits(limits))
        .await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!((result.iterations(), result.checks), (1, 1));
    assert_eq!(result.elapsed, Duration::from_secs(2 * 5 * 60));
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_stops_a_flow_that_is_not_to_wait() {
    let fixture = Fixture::new([SessionScript::new("limited").hits_quota(None)]);

    let result = fixture.run(definition(agent(json!({})), two_steps())).await;

    assert_eq!(codes(&result), ["sdk_rate_limit"]);
    assert!(result.end.is_resumable(), "{result:?}");
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_follows_the_retries_and_the_fallback_of_its_step() {
    let limited = || SessionScript::new("limited").hits_quota(None);
    let fixture = Fixture::new([limited(), limited(), text_session("done elsewhere")]);
    let mut a = step("b");
    a["retry"] = json!({"maxRetries": 1, "onExhausted": "fallback", "fallbackStep": "c"});
    let steps = json!({"a": a, "b": step("end"), "c": step("end")});
    let flow = definition(agent(json!({})), json!({"entryStep": "a", "steps": steps}));

    let result = fixture.run(flow).await;

    assert!(result.is_success(), "{result:?}");
    assert_eq!(
        fixture.events.lines(),
        [
            "1: a visit 1 retry 0, fresh",
            "1: a visit 1 retry 1, fresh",
            "1: c visit 1 retry 0, fresh"
        ]
    );
    assert_eq!(result.elapsed, Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn a_budget_holds_for_all_sessions_of_a_flow() {
    let fixture = Fixture::new([costs(30)]);
    let flow = definition(agent(json!({})), two_steps());

    let result = fixture
        .run_with(flow, fixture.options().limits(money(30)))
        .await;

    assert_eq!(codes(&result), ["budget_exceeded"]);
    assert!(result.end.is_resumable(), "{result:?}");
    assert_eq!(result.spent.cost.known_usd, CostUsd::from_cents(30));
}

#[tokio::test(start_paused = true)]
async fn the_cost_of_a_judge_is_counted() {
    let fixture = Fixture::new([costs(10), judges(true).costs(CostUsd::from_cents(5))]);
    let a = checked("end", json!({"type": "prompt", "prompt": "prompts/a.md"}));
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );

    let result = fixture.run(flow).await;

    assert_eq!(result.spent.cost.known_usd, CostUsd::from_cents(15));
}

#[tokio::test(start_paused = true)]
async fn time_runs_out_in_the_middle_of_a_session() {
    let fixture =
        Fixture::with(ScriptedBackend::new([SessionScript::new("hangs").hangs()]).unverified());
    let limits = FlowLimits {
        budget: Budget::default().with_time(MINUTE),
        ..FlowLimits::default()
    };
    let flow = definition(agent(json!({})), two_steps());

    let result = fixture
        .run_with(flow, fixture.options().limits(limits))
        .await;

    assert_eq!(codes(&result), ["budget_exceeded"]);
    assert_eq!(result.elapsed, MINUTE);
}

#[tokio::test(start_paused = true)]
async fn refuses_a_cost_budget_on_a_backend_without_cost_reports() {
    let agents = ScriptedBackend::new([]);
    let capabilities = agents.capabilities().clone().with_cost(Support::No);
    let fixture = Fixture::with(agents.with_capabilities(capabilities));
    let flow = definition(agent(json!({})), two_steps());
    let created = build(flow, fixture.options().limits(money(30))).expect("everything is there");

    let error = created
        .start(fixture.start())
        .await
        .expect_err("it cannot be kept");

    assert_eq!(error.kind(), FlowErrorKind::SdkRefused);
}

#[tokio::test(start_paused = true)]
async fn every_end_of_a_session_means_something_to_a_flow() {
    let failed = vec!["step_failed", "sdk_session"];
    let error = SessionOutcome::ExecutionError {
        messages: vec!["it broke".to_owned()],
    };
    for (outcome, limits, expected) in [
        (SessionOutcome::Completed, FlowLimits::default(), vec![]),
        (
            SessionOutcome::MaxTurns,
            FlowLimits::default(),
            failed.clone(),
        ),
        (
            SessionOutcome::Interrupted,
            FlowLimits::default(),
            failed.clone(),
        ),
        (error, FlowLimits::default(), failed.clone()),
        (
            SessionOutcome::BudgetExceeded,
            FlowLimits::default(),
            failed,
        ),
        (
            SessionOutcome::BudgetExceeded,
            money(99),
            vec!["budget_exceeded"],
        ),
    ] {
        let fixture = Fixture::new([SessionScript::new("works")
            .says("x")
            .ends_with(outcome.clone())]);
        let flow = definition(
            agent(json!({})),
            json!({"entryStep": "a", "steps": {"a": step("end")}}),
        );

        let result = fixture
            .run_with(flow, fixture.options().limits(limits))
            .await;

        assert_eq!(codes(&result), expected, "{outcome:?}");
    }
    for (kind, expected) in [
        (
            AgentErrorKind::Overloaded,
            ["step_failed", "sdk_connection"],
        ),
        (AgentErrorKind::Timeout, ["step_failed", "sdk_connection"]),
        (AgentErrorKind::Crashed, ["step_failed", "sdk_session"]),
    ] {
        let fixture = Fixture::new([SessionScript::new("fails")
            .says("x")
            .fails(kind, "it broke")]);
        let flow = definition(
            agent(json!({})),
            json!({"entryStep": "a", "steps": {"a": step("end")}}),
        );

        let result = fixture.run(flow).await;

        assert_eq!(codes(&result), expected, "{kind:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_a_judge_exhausts_is_reported_with_its_kind() {
    let judge = SessionScript::new("judges")
        .says("x")
        .ends_with(SessionOutcome::BudgetExceeded);
    let fixture = Fixture::new([costs(10), judge]);
    let a = checked("end", json!({"type": "prompt", "prompt": "prompts/a.md"}));
    let flow = definition(
        agent(json!({})),
        json!({"entryStep": "a", "steps": {"a": a}}),
    );

    let result = fixture
        .run_with(flow, fixture.options().limits(money(30)))
        .await;

    let failure = result.end.failure().expect("it is spent");
    assert_eq!(
        (failure.kind, failure.budget),
        (FlowErrorKind::BudgetExceeded, Some(BudgetKind::Cost))
    );
}

/// Runs commands that never end.
struct Endless;

#[async_trait::async_trait]
impl CommandRunner for Endless {
    async fn run(
        &self,
        _: &[String],
        _: Duration,
    ) -> Result<CommandOutcome, Box<dyn std::error::Error + Send + Sync>> {
        std::future::pending().await
    }
}

/// Receives notices and never answers.
struct Mute;

#[async_trait::async_trait]
impl Notifier for Mute {
    async fn notify(&self, _: &StepEscalation, _: &Notice) -> Result<(), FlowError> {
        std::future::pending().await
    }
}

#[tokio::test(start_paused = true)]
async fn time_runs_out_in_a_check_a_completion_and_a_notification_too() {
    let command = json!({"type": "command", "command": ["true"]});
    let by_command = checked(
        "end",
        json!({"type": "action", "actions": [command.clone()]}),
    );
    let mut escalated = checked("end", json!({"type": "keyword", "keywords": ["never"]}));
    escalated["escalation"] = json!({
        "escalateTo": "https://example.com/",
        "notificationMethod": "webhook",
        "returnFlow": "resume",
    });
    let outside = json!({"behavior": {
        "completionType": "externalState",
        "completionConfig": {"source": command},
    }});
    for (fields, a) in [
        (json!({}), by_command),
        (outside, step("end")),
        (json!({}), escalated),
    ] {
        let fixture = Fixture::new([text_session("done")]);
        let registry = json!({"entryStep": "a", "steps": {"a": a}});
        let limits = FlowLimits {
            budget: Budget::default().with_time(MINUTE),
            ..FlowLimits::default()
        };
        let options = fixture
            .options()
            .limits(limits)
            .commands(Arc::new(Endless))
            .notifiers(Notifiers::default().with_webhook(Arc::new(Mute)));

        let result = fixture
            .run_with(definition(agent(fields), registry), options)
            .await;

        let failure = result.end.failure().expect("its time is up");
        assert_eq!(failure.budget, Some(BudgetKind::Time), "{failure:?}");
        assert_eq!(result.elapsed, MINUTE);
    }
}

#[tokio::test(start_paused = true)]
async fn a_prompt_of_a_cut_session_is_resent_and_counts_one_unknown_cost() {
    let hangs = || SessionScript::new("hangs").hangs();
    let agents = ScriptedBackend::new([hangs(), costs(10), costs(10)]).unverified();
    let fixture = Fixture::with(agents);
    let created = build(definition(agent(json!({})), two_steps()), fixture.options());
    let created = created.expect("everything is there");
    let mut started = created.start(fixture.start()).await.expect("it starts");

    let cut_off = tokio::time::timeout(MINUTE, started.run()).await;
    started.run().await;

    assert!(cut_off.is_err(), "it was to hang");
    let result = started.stop();
    assert!(result.is_success(), "{result:?}");
    let cost = result.spent.cost;
    assert_eq!(
        (cost.known_usd, cost.unknown_parts),
        (CostUsd::from_cents(20), 1)
    );
}
