//! Tests of the allowance of a member.

use std::time::Duration;

use autonoe_core::{Budget, CostUsd};
use autonoe_harness::Allowance;
use autonoe_harness::recovery::Ladder;
use autonoe_testkit::SessionScript;

use crate::work::fixture::{Fixture, Turns, order, task, text_turn};

fn costs(text: &str, cents: u64) -> SessionScript {
    text_turn(text).costs(CostUsd::from_cents(cents))
}

#[tokio::test(start_paused = true)]
async fn lesson_11_no_session_starts_without_budget() {
    let turns = Turns::new([costs("one", 40), costs("two", 40), costs("three", 40)]);
    let fixture = Fixture::new(&turns);
    let mut order = order([task("T-1")]);
    order.ladder = Ladder::none();
    order.allowance = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(100)));

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    assert_eq!(turns.prompts().len(), 3);
    let error = result.error.expect("it failed");
    assert!(error.contains("the cost budget is spent"), "{error}");
    assert_eq!(result.cost.known_usd, CostUsd::from_cents(120));
    assert_eq!(outcome.spent.cost, result.cost);
}

#[tokio::test(start_paused = true)]
async fn lesson_11_an_unknown_cost_does_not_count_as_zero() {
    let turns = Turns::new([text_turn("one").costs_unknown()]);
    let fixture = Fixture::new(&turns);
    let mut order = order([task("T-1")]);
    order.allowance = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(100)));

    let (outcome, result) = fixture.run(&order).await;

    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    assert!(error.contains("the cost is unknown"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn sessions_and_time_are_limited_too() {
    for (allowance, is_cut_off, reason) in [
        (
            Allowance::default().sessions(2),
            false,
            "its sessions budget is spent",
        ),
        (
            Allowance::new(Budget::default().with_time(Duration::from_secs(90))),
            true,
            "its time budget is spent",
        ),
    ] {
        // The last turn may be interrupted.
        let last = if is_cut_off {
            SessionScript::new("turn").says("two").hangs()
        } else {
            text_turn("two")
        };
        let turns = Turns::new([text_turn("one"), last]);
        let fixture = Fixture::new(&turns);
        let mut order = order([task("T-1")]);
        order.allowance = allowance;

        let (outcome, result) = fixture.run(&order).await;

        assert!(!outcome.is_success());
        let error = result.error.expect("it failed");
        assert!(error.contains(reason), "{error}");
    }
}
