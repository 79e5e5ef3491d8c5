//! Runs of a hundred members under each strategy: the same seed gives the same outcome.

use std::sync::Arc;

use autonoe_core::{Budget, CostUsd};
use autonoe_harness::strategy::{MemberId, VotingCriterion};
use autonoe_harness::{Allowance, FleetReport, Graph, Parallel, Pipeline, Race, Strategy, Voting};
use tokio::time::Instant;

use crate::coordinate::fixture::{Act, End, Fixture, MemberActivity, RecordedEvents};
use crate::coordinate::regressions::{fleet, run};

const MEMBERS: usize = 100;

/// Pseudo-random numbers: the same for the same seed, on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn act(rng: &mut SplitMix64) -> Act {
    let end = match rng.below(10) {
        0 => End::Panics,
        1 | 2 => End::Fails,
        3 => End::Boasts,
        _ => End::Succeeds,
    };
    Act::new(1 + rng.below(120), end).costing(rng.below(10))
}

fn name(n: usize) -> String {
    format!("m{n:03}")
}

type Make = fn() -> Box<dyn Strategy>;

fn strategies() -> Vec<(&'static str, Make)> {
    vec![
        ("parallel", || Box::new(Parallel {})),
        ("pipeline", || Box::new(Pipeline {})),
        ("race", || Box::new(Race {})),
        ("voting", || {
            Box::new(Voting {
                min_votes: 7.try_into().expect("some"),
                criterion: VotingCriterion::Fastest,
                wait_for_all: false,
            })
        }),
        ("voting, all", || {
            Box::new(Voting {
                wait_for_all: true,
                ..Voting::default()
            })
        }),
        ("graph", || {
            let id = |n| MemberId::new(name(n));
            let pairs = (1..MEMBERS).map(|n| (id(n), id(n / 2)));
            Box::new(pairs.fold(Graph::default(), |graph, (member, before)| {
                graph.after(member, [before])
            }))
        }),
    ]
}

/// A strategy that is chosen at run time.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct Chosen(Box<dyn Strategy>);

#[typetag::serde(name = "test-chosen")]
impl Strategy for Chosen {
    fn decide(
        &self,
        fleet: &autonoe_harness::strategy::Fleet,
    ) -> Vec<autonoe_harness::strategy::Order> {
        self.0.decide(fleet)
    }
}

struct FleetTrace {
    report: FleetReport,
    seen: MemberActivity,
    events: Vec<String>,
    time: std::time::Duration,
}

async fn run_fleet(seed: u64, strategy: Box<dyn Strategy>) -> FleetTrace {
    let mut rng = SplitMix64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let allowance = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(10)));
    let members: Vec<_> = (0..MEMBERS)
        .map(|n| act(&mut rng).member(&name(n)).allowance(allowance))
        .collect();
    let (fixture, events, started) = (
        Arc::new(Fixture::default()),
        RecordedEvents::default(),
        Instant::now(),
    );
    let whole = Allowance::new(Budget::default().with_cost(CostUsd::from_cents(1000)));
    let coordinator = fleet(&fixture, Chosen(strategy))
        .members(members)
        .budget(whole);
    let report = run(events.watch(coordinator)).await;
    FleetTrace {
        report,
        seen: fixture.seen(),
        events: events.lines(),
        time: started.elapsed(),
    }
}

#[test]
fn hundred_members_end_the_same_for_one_seed() {
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("there is room")
    };
    for (strategy, make) in strategies() {
        for seed in 1..=8 {
            let [one, other] = [(); 2].map(|()| runtime().block_on(run_fleet(seed, make())));

            let description = format!("{strategy}, seed {seed}");
            assert_eq!(one.report, other.report, "{description}");
            assert_eq!(one.events, other.events, "{description}");
            assert_eq!(
                (&one.seen.order, one.time),
                (&other.seen.order, other.time),
                "{description}"
            );
            let seen = other.seen;
            assert_eq!(seen.at_work, 0, "{description}");
            assert!(
                seen.most_at_once <= 10,
                "{description}: {}",
                seen.most_at_once
            );
            assert!(
                seen.starts.values().all(|times| *times == 1),
                "{description}"
            );
            let result = one.report;
            assert_eq!(result.cut_short, None, "{description}");
            assert_eq!(
                result.results.len() + result.not_started.len(),
                MEMBERS,
                "{description}"
            );
            if let Some(winner) = result.winning_result() {
                assert!(winner.success, "{description}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_members_end() {
    let fixture = Arc::new(Fixture::default());
    let members = (0..1000).map(|n| Act::new(30, End::Succeeds).member(&name(n)));
    let room = 1000.try_into().expect("some");

    let report = run(fleet(&fixture, Parallel {})
        .members(members)
        .max_concurrent(room))
    .await;

    assert!(report.success);
    assert_eq!(fixture.seen().most_at_once, 1000);
}
