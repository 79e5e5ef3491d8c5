//! Tests that the conformance suite detects faulty strategies.

use autonoe_harness::strategy::{Decision, Fleet, Order};
use autonoe_harness::{Strategy, conformance};
use serde::{Deserialize, Serialize};

/// Declares a strategy from a function.
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
strategy!(
    Hasty,
    "test-hasty",
    |fleet| if fleet.has_running_members() {
        finish(Decision::failed())
    } else {
        match start_all(fleet) {
            orders if orders.is_empty() => finish(Decision::failed()),
            orders => orders,
        }
    }
);
strategy!(Lenient, "test-lenient", |fleet| {
    // The first member that ends wins, as in a race that a failure can win.
    match fleet.results_by_end().next() {
        Some(first) if !fleet.has_running_members() => finish(Decision::won_by(first)),
        _ if fleet.has_running_members() => {
            fleet.running().map(|id| Order::stop(id, "over")).collect()
        }
        _ => match start_all(fleet) {
            orders if orders.is_empty() => finish(Decision::failed()),
            orders => orders,
        },
    }
});
strategy!(Optimist, "test-optimist", |fleet| {
    if fleet.has_running_members() || fleet.waiting().next().is_some() {
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
    if fleet.results().count() == fleet.members().len() {
        finish(Decision::failed())
    } else {
        all.collect()
    }
});

#[test]
fn the_suite_finds_each_fault() {
    let faulty: [(&dyn Strategy, &str); 5] = [
        (&Idle {}, "the strategy waits, and no member is running"),
        (&Hasty {}, "the strategy finishes while members are running"),
        (&Lenient {}, "failed, but is the winner"),
        (&Optimist {}, "the fleet succeeds, but no member did"),
        (&Again {}, "the strategy starts"),
    ];
    for (strategy, problem) in faulty {
        let report = conformance::strategy(strategy);

        let found = report
            .failures()
            .iter()
            .any(|failed| failed.problem.contains(problem));
        assert!(found, "{strategy:?}: {:?}", report.failures());
    }
}
