//! Budgets and waits of single sessions.

use std::time::Duration;

use autonoe_core::agent::{BudgetKind, CostTotal, SessionEnd, TokenUsage};
use autonoe_core::event::WaitReason;
use autonoe_core::run::FlowExit;
use autonoe_core::session::{FlowStart, SessionWait};
use autonoe_core::{Budget, CostUsd, RunControl};
use autonoe_testkit::SessionScript;
use serde_json::json;

use super::{MINUTE, open, order};
use crate::behaviour::support::Fixture;

#[tokio::test(start_paused = true)]
async fn a_budget_holds_over_all_sessions_and_costs_are_exact() {
    let spends = |name: &str, cents| {
        SessionScript::new(name)
            .says("working")
            .costs(CostUsd::from_cents(cents))
            .ends()
    };
    let fixture = Fixture::new([spends("one", 30), spends("two", 20)]);
    let budget = Budget::default().with_cost(CostUsd::from_cents(50));
    let mut open = open(fixture.runner().budget(budget), &RunControl::new()).await;

    open.run(order("one")).await;
    assert_eq!(open.budget_left().cost_usd, Some(CostUsd::from_cents(20)));
    open.run(order("two")).await;
    let third = open.run(order("three")).await;

    let budget = BudgetKind::Cost;
    assert_eq!(third.result.end, SessionEnd::BudgetSpent { budget });
    let report = open.close(FlowExit::BudgetExceeded { budget }, json!({}));
    assert_eq!(report.cost, CostTotal::known(CostUsd::from_cents(50)));
    assert_eq!((report.sessions, fixture.log.count("budget_spent")), (2, 1));
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_nearly_spent_is_reported_once() {
    let spends = |name: &str, cents| {
        SessionScript::new(name)
            .says("working")
            .costs(CostUsd::from_cents(cents))
            .ends()
    };
    let fixture = Fixture::new([spends("one", 79), spends("two", 1), spends("three", 10)]);
    let budget = Budget::default().with_cost(CostUsd::from_cents(100));
    let mut open = open(fixture.runner().budget(budget), &RunControl::new()).await;
    let mut counts = Vec::new();
    for name in ["one", "two", "three"] {
        open.run(order(name)).await;
        counts.push(fixture.log.count("budget_nearly_spent"));
    }

    assert_eq!(counts, [0, 1, 1]);
}

#[tokio::test(start_paused = true)]
async fn a_session_has_a_budget_of_its_own_within_that_of_the_flow() {
    let tokens = TokenUsage {
        output: 100,
        ..TokenUsage::default()
    };
    let fixture = Fixture::new([
        SessionScript::new("talks")
            .uses_tokens(tokens, None)
            .hangs(),
        SessionScript::new("hangs").hangs(),
        SessionScript::new("hangs, too").hangs(),
    ]);
    let runner = fixture
        .runner()
        .budget(Budget::default().with_time(MINUTE * 10));
    let mut open = open(runner, &RunControl::new()).await;
    let own = |budget| order("work").budget(budget);

    let ends = [
        open.run(own(Budget::default().with_tokens(100))).await,
        open.run(own(Budget::default().with_time(MINUTE))).await,
        open.run(own(Budget::default().with_time(MINUTE * 60)))
            .await,
    ]
    .map(|performed| performed.result.end);

    let spent = |budget| SessionEnd::BudgetSpent { budget };
    assert_eq!(
        ends,
        [BudgetKind::Tokens, BudgetKind::Time, BudgetKind::Time].map(spent)
    );
    assert_eq!(open.spent().time, MINUTE * 10);
}

#[tokio::test(start_paused = true)]
async fn a_session_with_nothing_left_to_spend_reaches_no_agent() {
    let fixture = Fixture::new([]);
    let mut open = open(fixture.runner(), &RunControl::new()).await;
    let nothing = Budget::default();

    for (left, budget) in [
        (nothing.with_cost(CostUsd::ZERO), BudgetKind::Cost),
        (nothing.with_tokens(0), BudgetKind::Tokens),
        (nothing.with_time(Duration::ZERO), BudgetKind::Time),
    ] {
        let performed = open.run(order("work").budget(left)).await;

        assert_eq!(performed.result.end, SessionEnd::BudgetSpent { budget });
    }
    // No agent was created.
    fixture.agents.verify();
}

#[tokio::test(start_paused = true)]
async fn a_flow_does_not_begin_with_a_budget_of_nothing_to_keep_to() {
    let fixture = Fixture::new([]);
    let sessions = fixture.runner().build_sessions().expect("parts fit");
    let sessions = sessions.caller_budget(Budget::default().with_tokens(0));

    let refused = sessions
        .open(FlowStart::new("review"), &RunControl::new())
        .await;

    let refused = refused.expect_err("nothing to spend");
    let FlowExit::Failed { error } = &refused.report().exit else {
        panic!("another exit");
    };
    assert_eq!(error.code, "invalid_value");
    assert!(error.message.starts_with(".caller_budget(..): "), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_takes_its_time_and_no_longer_than_the_flow_has() {
    let fixture = Fixture::new([]);
    let runner = fixture
        .runner()
        .budget(Budget::default().with_time(MINUTE * 3));
    let mut open = open(runner, &RunControl::new()).await;
    let begin: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().expect("a time");

    let first = open.wait(WaitReason::RetryAfter, begin + MINUTE).await;
    let second = open.wait(WaitReason::Quota, begin + MINUTE * 60).await;

    assert_eq!(
        (first, second),
        (SessionWait::Over, SessionWait::TimeBudgetSpent)
    );
    assert_eq!(open.spent().time, MINUTE * 3);
    assert_eq!(
        (
            fixture.log.count("wait_started"),
            fixture.log.count("wait_ended")
        ),
        (2, 2)
    );
}
