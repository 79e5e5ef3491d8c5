//! Regression tests for known bugs of other harnesses.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::engine::{Engine, LocalEngine};
use autonoe_core::time::Clock;
use autonoe_harness::coordinate::CutShort;
use autonoe_harness::strategy::MemberReport;
use autonoe_harness::{Coordinator, FleetReport, Parallel, Pipeline, Race, Strategy, Voting};
use autonoe_testkit::VirtualClock;
use tokio::time::Instant;

use crate::coordinate::fixture::{Act, End, Fixture, RecordedEvents, id};

pub(crate) fn fleet(fixture: &Arc<Fixture>, strategy: impl Strategy + 'static) -> Coordinator {
    let engine: Arc<dyn Engine> = Arc::new(LocalEngine::new(fixture.clone()));
    Coordinator::new("fleet", engine, strategy).clock(Arc::new(VirtualClock::new()))
}

pub(crate) async fn run(coordinator: Coordinator) -> FleetReport {
    let report = coordinator.run(&RunControl::new()).await;
    report.expect("it can begin")
}

fn error<'r>(report: &'r FleetReport, member: &str) -> &'r str {
    let result = result(report, member);
    result.error.as_deref().unwrap_or("there is none")
}

fn result<'r>(report: &'r FleetReport, member: &str) -> &'r MemberReport {
    let mut results = report.results.iter();
    results
        .find(|result| result.id == id(member))
        .expect("it was started")
}

#[tokio::test(start_paused = true)]
async fn the_time_out_of_a_task_is_honoured() {
    let fixture = Arc::new(Fixture::default());
    let started = Instant::now();

    let report = run(fleet(&fixture, Parallel {}).members([
        Act::new(3600, End::Succeeds)
            .member("slow")
            .timeout(Duration::from_secs(600)),
        Act::new(60, End::Succeeds)
            .member("quick")
            .timeout(Duration::from_secs(600)),
    ]))
    .await;

    assert!(!report.success);
    assert_eq!(error(&report, "slow"), "it timed out after 10m");
    assert!(result(&report, "quick").success);
    assert_eq!(fixture.seen().cancelled, ["slow"]);
    assert_eq!(started.elapsed(), Duration::from_secs(603));
}

#[tokio::test(start_paused = true)]
async fn no_more_members_run_at_once_than_allowed() {
    for room in [1, 3, 7] {
        let fixture = Arc::new(Fixture::default());
        let members = (0..20).map(|n| Act::new(60, End::Succeeds).member(&n.to_string()));
        let room = NonZeroUsize::new(room).expect("some");

        let report = run(fleet(&fixture, Parallel {})
            .members(members)
            .max_concurrent(room))
        .await;

        assert!(report.success);
        assert_eq!(fixture.seen().most_at_once, room.get());
    }
}

#[tokio::test(start_paused = true)]
async fn ten_members_run_at_once_by_default() {
    let fixture = Arc::new(Fixture::default());
    let members = (0..30).map(|n| Act::new(60, End::Succeeds).member(&n.to_string()));

    run(fleet(&fixture, Parallel {}).members(members)).await;

    assert_eq!(fixture.seen().most_at_once, 10);
}

#[tokio::test(start_paused = true)]
async fn stages_of_a_pipeline_start_one_after_the_other_and_get_the_output() {
    let fixture = Arc::new(Fixture::default());
    let members = ["a", "b", "c"].map(|name| Act::new(60, End::Succeeds).member(name));

    let report = run(fleet(&fixture, Pipeline {}).members(members)).await;

    let seen = fixture.seen();
    let input = |text: &str| Some(text.to_owned());
    assert_eq!(
        seen.order,
        [
            ("a".to_owned(), None),
            ("b".to_owned(), input("a")),
            ("c".to_owned(), input("a+b")),
        ]
    );
    assert_eq!(seen.most_at_once, 1);
    assert_eq!(report.aggregated_output.as_deref(), Some("a+b+c"));
}

#[tokio::test(start_paused = true)]
async fn a_stage_after_a_failure_is_not_started() {
    let fixture = Arc::new(Fixture::default());

    let report = run(fleet(&fixture, Pipeline {}).members([
        Act::new(60, End::Succeeds).member("a"),
        Act::new(60, End::Fails).member("b"),
        Act::new(60, End::Succeeds).member("c"),
    ]))
    .await;

    assert!(!report.success);
    assert_eq!(report.not_started, [id("c")]);
}

#[tokio::test(start_paused = true)]
async fn a_member_that_failed_cannot_win_a_race() {
    for end in [End::Fails, End::Panics, End::Boasts] {
        let fixture = Arc::new(Fixture::default());

        let report = run(fleet(&fixture, Race {}).members([
            Act::new(1, end).member("first"),
            Act::new(60, End::Succeeds).member("second"),
        ]))
        .await;

        assert_eq!(report.winner, Some(id("second")), "{end:?}");
        assert!(!result(&report, "first").success);
    }
}

#[tokio::test(start_paused = true)]
async fn losers_of_a_race_have_ended_when_it_is_over() {
    let fixture = Arc::new(Fixture::default());
    let recorded = RecordedEvents::default();
    let coordinator = fleet(&fixture, Race {}).members([
        Act::new(60, End::Succeeds).member("slow"),
        Act::new(10, End::Succeeds).member("quick"),
    ]);

    let report = run(recorded.watch(coordinator)).await;

    assert_eq!(report.winner, Some(id("quick")));
    let seen = fixture.seen();
    assert_eq!(
        (seen.at_work, &seen.cancelled[..]),
        (0, &["slow".to_owned()][..])
    );
    assert_eq!(error(&report, "slow"), "quick finished first");
    assert_eq!(
        recorded.lines(),
        [
            "race begins with 2",
            "slow starts",
            "quick starts",
            "quick succeeds",
            "slow is stopped: quick finished first",
            "slow fails: quick finished first",
            "finished: true",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_vote_ignores_unfinished_members() {
    let fixture = Arc::new(Fixture::default());

    let report = run(fleet(&fixture, Voting::default()).members([
        Act::new(10, End::Succeeds).member("a"),
        Act::new(20, End::Fails).member("b"),
        Act::new(3000, End::Succeeds).member("never done"),
        Act::new(30, End::Succeeds).member("c"),
    ]))
    .await;

    assert_eq!(report.winner, Some(id("a")));
    assert!(!result(&report, "never done").success);
    assert_eq!(fixture.seen().at_work, 0);
}

#[tokio::test(start_paused = true)]
async fn a_vote_without_a_quorum_fails() {
    let fixture = Arc::new(Fixture::default());

    let report = run(fleet(&fixture, Voting::default()).members([
        Act::new(10, End::Succeeds).member("a"),
        Act::new(20, End::Fails).member("b"),
    ]))
    .await;

    assert!(!report.success);
    assert_eq!(report.winner, None);
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_times_out_stops_its_members() {
    let fixture = Arc::new(Fixture::default());
    let started = Instant::now();
    let members = (0..12).map(|n| Act::new(10_000, End::Succeeds).member(&n.to_string()));

    let report = run(fleet(&fixture, Parallel {}).members(members)).await;

    assert_eq!(report.cut_short, Some(CutShort::TimedOut));
    assert!(!report.success);
    assert_eq!(report.not_started.len(), 2);
    assert_eq!(fixture.seen().at_work, 0);
    // An hour, plus the time that the members take to end.
    assert_eq!(started.elapsed(), Duration::from_secs(3603));
}

#[tokio::test(start_paused = true)]
async fn a_fleet_that_is_cancelled_stops_its_members() {
    let fixture = Arc::new(Fixture::default());
    let members = (0..12).map(|n| Act::new(1000, End::Succeeds).member(&n.to_string()));
    let coordinator = fleet(&fixture, Race {}).members(members);
    let (clock, control) = (VirtualClock::new(), RunControl::new());
    let cancelling = async {
        clock.sleep(Duration::from_secs(5)).await;
        control.cancel();
    };

    let (report, ()) = tokio::join!(coordinator.run(&control), cancelling);

    let report = report.expect("it began");
    assert_eq!(report.cut_short, Some(CutShort::Cancelled));
    assert!(!report.success);
    assert_eq!(error(&report, "0"), "the fleet was cancelled");
    let seen = fixture.seen();
    assert_eq!((seen.at_work, seen.cancelled.len()), (0, 10));
}
