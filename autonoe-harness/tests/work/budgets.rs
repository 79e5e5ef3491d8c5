//! What a member may spend.

use std::time::Duration;

use autonoe_core::{Budget, CostUsd};
use autonoe_harness::{Allowance, Ladder};
use autonoe_testkit::SessionScript;

use crate::work::setting::{Stage, Turns, order, says, task};

fn costs(text: &str, cents: u64) -> SessionScript {
    says(text).costs(CostUsd::from_cents(cents))
}

#[tokio::test(start_paused = true)]
async fn lesson_11_nothing_begins_when_nothing_is_left() {
    let turns = Turns::new([costs("one", 40), costs("two", 40), costs("three", 40)]);
    let stage = Stage::new(&turns);
    let mut order = order([task("T-1")]);
    order.ladder = Ladder::none();
    order.allowance = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(100)));

    let (outcome, result) = stage.run(&order).await;

    assert!(!outcome.is_success());
    assert_eq!(turns.prompts().len(), 3);
    let error = result.error.expect("it failed");
    assert!(error.contains("no money is left"), "{error}");
    assert_eq!(result.cost.known_usd, CostUsd::from_cents(120));
    assert_eq!(outcome.spent.cost, result.cost);
}

#[tokio::test(start_paused = true)]
async fn lesson_11_a_cost_that_nobody_knows_is_not_taken_for_nothing() {
    let turns = Turns::new([says("one").costs_unknown()]);
    let stage = Stage::new(&turns);
    let mut order = order([task("T-1")]);
    order.allowance = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(100)));

    let (outcome, result) = stage.run(&order).await;

    assert!(!outcome.is_success());
    let error = result.error.expect("it failed");
    assert!(error.contains("nobody knows how much was spent"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn sessions_and_time_are_limited_too() {
    for (allowance, is_cut_off, why) in [
        (
            Allowance::default().with_sessions(2),
            false,
            "nothing is left of its sessions",
        ),
        (
            Allowance::new(Budget::default().with_time(Duration::from_secs(90))),
            true,
            "nothing is left of its time",
        ),
    ] {
        // The last may be cut off in the middle.
        let last = match is_cut_off {
            true => SessionScript::new("turn").says("two").hangs(),
            false => says("two"),
        };
        let turns = Turns::new([says("one"), last]);
        let stage = Stage::new(&turns);
        let mut order = order([task("T-1")]);
        order.allowance = allowance;

        let (outcome, result) = stage.run(&order).await;

        assert!(!outcome.is_success());
        let error = result.error.expect("it failed");
        assert!(error.contains(why), "{error}");
    }
}
