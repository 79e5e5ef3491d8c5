//! Tests of a coordinator that takes over from a killed one.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::engine::{Engine, LocalEngine};
use autonoe_harness::coordinate::MemberSpec;
use autonoe_harness::{Coordinator, FleetReport, Parallel, Pipeline, Race, Strategy, Voting};
use autonoe_testkit::VirtualClock;
use proptest::prelude::*;

use crate::coordinate::fixture::{Act, End, Fixture, RecordedEvents, id};

struct Fleet {
    fixture: Arc<Fixture>,
    engine: Arc<dyn Engine>,
    strategy: Arc<dyn Strategy>,
    members: Vec<MemberSpec>,
}

impl Fleet {
    fn new(strategy: Arc<dyn Strategy>, members: Vec<MemberSpec>) -> Self {
        let fixture = Arc::new(Fixture::default());
        Self {
            engine: Arc::new(LocalEngine::new(fixture.clone())),
            fixture,
            strategy,
            members,
        }
    }

    fn coordinator(&self) -> Coordinator {
        Coordinator::new("fleet", self.engine.clone(), self.strategy.clone())
            .members(self.members.clone())
            .max_concurrent(NonZeroUsize::new(3).expect("some"))
            .clock(Arc::new(VirtualClock::new()))
    }

    /// Runs a coordinator for a while, and kills it.
    async fn killed_after(&self, time: Duration) -> Option<FleetReport> {
        let (coordinator, control) = (self.coordinator(), RunControl::new());
        let running = tokio::time::timeout(time, coordinator.run(&control));
        running.await.ok().map(|report| report.expect("it began"))
    }

    async fn finished(&self) -> FleetReport {
        let report = self.coordinator().run(&RunControl::new()).await;
        report.expect("it began")
    }

    fn assert_each_member_ran_once(&self) {
        let seen = self.fixture.seen();
        assert_eq!(seen.at_work, 0);
        assert!(seen.starts.values().all(|times| *times == 1), "{seen:?}");
    }
}

fn acts(seconds: &[u64]) -> Vec<MemberSpec> {
    let acts = seconds.iter().enumerate();
    acts.map(|(n, seconds)| Act::new(*seconds, End::Succeeds).member(&format!("m{n}")))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_twice_and_nothing_is_lost() {
    let fleet = Fleet::new(Arc::new(Parallel {}), acts(&[10, 20, 30, 40, 50, 60, 70]));
    for _ in 0..5 {
        let killed = fleet.killed_after(Duration::from_secs(11)).await;
        assert_eq!(killed, None);
    }

    let report = fleet.finished().await;

    assert!(report.success);
    assert_eq!(report.results.len(), 7);
    fleet.assert_each_member_ran_once();
}

#[tokio::test(start_paused = true)]
async fn a_pipeline_resumes_at_its_current_stage() {
    let fleet = Fleet::new(Arc::new(Pipeline {}), acts(&[10, 10, 10]));
    assert_eq!(fleet.killed_after(Duration::from_secs(15)).await, None);
    let recorded = RecordedEvents::default();

    let report = recorded
        .watch(fleet.coordinator())
        .run(&RunControl::new())
        .await;

    let result = report.expect("it began");
    assert_eq!(result.aggregated_output.as_deref(), Some("m0+m1+m2"));
    fleet.assert_each_member_ran_once();
    assert_eq!(
        recorded.lines(),
        [
            "pipeline begins with 3",
            "m0 is found again",
            "m0 succeeds",
            "m1 is found again",
            "m1 succeeds",
            "m2 starts",
            "m2 succeeds",
            "finished: true",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_resumed_race_with_a_winner_starts_no_member_and_stops_the_losers() {
    let fleet = Fleet::new(Arc::new(Race {}), acts(&[500, 10, 600, 700]));
    // Killed when the winner has ended and the losers are being stopped.
    assert_eq!(fleet.killed_after(Duration::from_secs(11)).await, None);

    let report = fleet.finished().await;

    assert_eq!(report.winner, Some(id("m1")));
    assert_eq!(report.not_started, [id("m3")]);
    fleet.assert_each_member_ran_once();
}

#[tokio::test(start_paused = true)]
async fn the_order_of_ends_survives_a_kill_if_it_is_known() {
    let fleet = Fleet::new(Arc::new(Voting::default()), acts(&[20, 10]));
    // Killed when both have ended, of which it has only seen the second.
    assert_eq!(fleet.killed_after(Duration::from_secs(15)).await, None);
    tokio::time::sleep(Duration::from_secs(10)).await;

    let unknown = fleet.finished().await;
    let known = fleet.coordinator().ended_before([id("m1")]);
    let known = known.run(&RunControl::new()).await.expect("it began");

    assert_eq!(unknown.winner, Some(id("m0")));
    assert_eq!(known.winner, Some(id("m1")));
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_has_ended_is_reported_again_without_starting_members() {
    let fleet = Fleet::new(Arc::new(Voting::default()), acts(&[10, 20, 30]));
    let first = fleet.finished().await;

    let second = fleet.finished().await;

    assert_eq!(second, first);
    fleet.assert_each_member_ran_once();
}

#[tokio::test(start_paused = true)]
async fn a_timeout_continues_after_a_crash_with_the_same_message() {
    let slow = Act::new(1000, End::Succeeds).member("slow");
    let members = vec![slow.timeout(Duration::from_secs(100))];
    let fleet = Fleet::new(Arc::new(Parallel {}), members);
    let first = fleet.finished().await;

    let second = fleet.finished().await;

    assert_eq!(second, first);
    let [result] = &second.results[..] else {
        panic!("{second:?}");
    };
    assert_eq!(result.error.as_deref(), Some("it timed out after 1m 40s"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn wherever_a_coordinator_is_killed_the_next_one_resumes(
        seconds in prop::collection::vec(1u64..60, 1..8),
        failing in prop::collection::vec(any::<bool>(), 8),
        kills in prop::collection::vec(1u64..40, 0..6),
        strategy in 0usize..4,
    ) {
        let strategy: Arc<dyn Strategy> = match strategy {
            0 => Arc::new(Parallel {}),
            1 => Arc::new(Pipeline {}),
            2 => Arc::new(Race {}),
            _ => Arc::new(Voting::default()),
        };
        let members: Vec<_> = seconds.iter().zip(failing).enumerate().map(|(n, (seconds, fails))| {
            let end = if fails { End::Fails } else { End::Succeeds };
            Act::new(*seconds, end).member(&format!("m{n}"))
        }).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("there is room");
        runtime.block_on(async {
            let undisturbed = Fleet::new(strategy.clone(), members.clone()).finished().await;
            let fleet = Fleet::new(strategy, members);
            for time in kills {
                // The kills are at odd times, so that no member ends at the same moment.
                fleet.killed_after(Duration::from_millis(time * 1000 + 137)).await;
            }

            let report = fleet.finished().await;

            fleet.assert_each_member_ran_once();
            prop_assert_eq!(report.success, undisturbed.success);
            prop_assert!(report.cut_short.is_none());
            Ok(())
        })?;
    }
}
