//! The suite finds what is wrong with strategies that are.

use autonoe_harness::{Decision, Fleet, Order, Strategy, conformance};
use serde::{Deserialize, Serialize};

/// Declares a strategy that decides by a function.
macro_rules! strategy {
    ($name:ident, $tag:literal, $decide:expr) => {
        #[derive(Debug, Serialize, Deserialize)]
        struct $name {}

        #[typetag::serde(name = $tag)]
        impl Strategy for $name {
            fn decide(&self, fleet: &Fleet) -> Vec<Order> {
                let decide: fn(&Fleet) -> Vec<Order> = $decide;
                decide(fleet)
            }
        }
    };
}

fn start_all(fleet: &Fleet) -> Vec<Order> {
    fleet.waiting().map(Order::start).collect()
}

fn finish(decision: Decision) -> Vec<Order> {
    vec![Order::Finish(decision)]
}

strategy!(Idle, "test-idle", |_| Vec::new());
strategy!(Hasty, "test-hasty", |fleet| match fleet.is_at_work() {
    true => finish(Decision::failed()),
    false => match start_all(fleet) {
        orders if orders.is_empty() => finish(Decision::failed()),
        orders => orders,
    },
});
strategy!(Lenient, "test-lenient", |fleet| {
    // Whoever ends first wins, as in a race that a failure can win.
    match fleet.ended_in_order().next() {
        Some(first) if !fleet.is_at_work() => finish(Decision::won_by(first)),
        _ if fleet.is_at_work() => fleet.running().map(|id| Order::stop(id, "over")).collect(),
        _ => match start_all(fleet) {
            orders if orders.is_empty() => finish(Decision::failed()),
            orders => orders,
        },
    }
});
strategy!(Optimist, "test-optimist", |fleet| {
    if fleet.is_at_work() || fleet.waiting().next().is_some() {
        return start_all(fleet);
    }
    finish(Decision {
        success: true,
        winner: None,
        output: None,
    })
});
strategy!(Again, "test-again", |fleet| {
    let all = fleet
        .members()
        .iter()
        .map(|member| Order::start(&member.id));
    match fleet.results().count() == fleet.members().len() {
        true => finish(Decision::failed()),
        false => all.collect(),
    }
});

#[test]
fn the_suite_finds_what_is_wrong() {
    let faulty: [(&dyn Strategy, &str); 5] = [
        (&Idle {}, "it waits, and nothing is at work"),
        (&Hasty {}, "it finishes while members are at work"),
        (&Lenient {}, "failed and wins"),
        (&Optimist {}, "it succeeds, and nobody did"),
        (&Again {}, "it starts"),
    ];
    for (strategy, what) in faulty {
        let report = conformance::strategy(strategy);

        let found = report
            .failures()
            .iter()
            .any(|failed| failed.what.contains(what));
        assert!(found, "{strategy:?}: {:?}", report.failures());
    }
}
