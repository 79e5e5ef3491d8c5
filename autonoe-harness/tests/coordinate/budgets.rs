//! Tests of fleet budgets: no member starts that cannot be paid.

use std::sync::Arc;

use autonoe_core::{Budget, CostUsd};
use autonoe_harness::coordinate::CutShort;
use autonoe_harness::{Allowance, Parallel, Race};

use crate::coordinate::fixture::{Act, End, Fixture, RecordedEvents, id};
use crate::coordinate::regressions::{fleet, run};

fn money(cents: u64) -> Allowance {
    Allowance::new(Budget::default().with_cost(CostUsd::from_cents(cents)))
}

#[tokio::test(start_paused = true)]
async fn the_money_of_a_fleet_is_enforced() {
    let fixture = Arc::new(Fixture::default());
    let recorded = RecordedEvents::default();
    let members = ["a", "b", "c"].map(|name| {
        let act = Act::new(60, End::Succeeds).costing(30);
        act.member(name).allowance(money(40))
    });
    let coordinator = fleet(&fixture, Parallel {})
        .members(members)
        .budget(money(100));

    let report = run(recorded.watch(coordinator)).await;

    // Two can be paid at once; the third when they have returned 10 each: 100 - 60 = 40.
    assert!(report.success, "{report:?}");
    assert_eq!(fixture.seen().most_at_once, 2);
    assert_eq!(report.account.free(), money(10));
    assert!(recorded.lines().contains(&"c waits for money".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn sessions_that_a_member_did_not_have_return() {
    let fixture = Arc::new(Fixture::default());
    let sessions = |count| Allowance::default().sessions(count);
    // Each uses one session, and may use two.
    let members = ["a", "b", "c"].map(|name| {
        let act = Act::new(60, End::Succeeds);
        act.member(name).allowance(sessions(2))
    });

    let report = run(fleet(&fixture, Parallel {})
        .members(members)
        .budget(sessions(4)))
    .await;

    assert!(report.success, "{report:?}");
    assert_eq!(fixture.seen().most_at_once, 2);
    assert_eq!(report.account.free(), sessions(1));
}

#[tokio::test(start_paused = true)]
async fn a_fleet_fails_if_its_next_member_cannot_be_paid() {
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b", "c"].map(|name| {
        let act = Act::new(60, End::Succeeds).costing(40);
        act.member(name).allowance(money(40))
    });

    let report = run(fleet(&fixture, Parallel {})
        .members(members)
        .budget(money(100)))
    .await;

    assert!(!report.success);
    assert_eq!(report.not_started, [id("c")]);
    let Some(CutShort::InsufficientBudget { member, missing }) = &report.cut_short else {
        panic!("{report:?}");
    };
    assert_eq!(*member, id("c"));
    let expected = "it needs $0.40, and $0.20 is left";
    assert!(missing.contains(expected), "{missing}");
    assert_eq!(report.account.free(), money(20));
}

#[tokio::test(start_paused = true)]
async fn a_member_without_a_limit_is_not_paid_from_a_budget_that_has_one() {
    let fixture = Arc::new(Fixture::default());
    let members = [Act::new(60, End::Succeeds).member("a")];

    let report = run(fleet(&fixture, Race {}).members(members).budget(money(100))).await;

    assert!(matches!(
        report.cut_short,
        Some(CutShort::InsufficientBudget { .. })
    ));
    assert_eq!(fixture.seen().order, []);
}

#[tokio::test(start_paused = true)]
async fn no_money_returns_from_a_member_of_unknown_cost() {
    let fixture = Arc::new(Fixture::default());
    let members = [Act::new(60, End::Panics)
        .costing(5)
        .member("a")
        .allowance(money(40))];

    let report = run(fleet(&fixture, Parallel {})
        .members(members)
        .budget(money(100)))
    .await;

    assert_eq!(report.account.free(), money(60));
}

#[tokio::test(start_paused = true)]
async fn the_losers_of_a_race_return_their_unspent_budget() {
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b"].map(|name| {
        let seconds = if name == "a" { 10 } else { 500 };
        let act = Act::new(seconds, End::Succeeds).costing(3);
        act.member(name).allowance(money(50))
    });

    let report = run(fleet(&fixture, Race {}).members(members).budget(money(100))).await;

    assert!(report.success);
    assert_eq!(report.account.free(), money(94));
}
