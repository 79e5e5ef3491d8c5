//! Tests of pausing a fleet.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::engine::LocalEngine;
use autonoe_harness::coordinate::CutShort;
use autonoe_harness::{Coordinator, Pipeline};
use autonoe_testkit::VirtualClock;

use crate::coordinate::fixture::{Act, End, Fixture, RecordedEvents};

fn pipeline(fixture: &Arc<Fixture>, recorded: &RecordedEvents) -> Coordinator {
    let act = Act::new(10, End::Succeeds);
    let engine = Arc::new(LocalEngine::new(fixture.clone()));
    let coordinator = Coordinator::new("fleet", engine, Pipeline {})
        .members(["first", "second"].map(|name| act.member(name)))
        .time(Duration::from_secs(60))
        .clock(Arc::new(VirtualClock::new()));
    recorded.watch(coordinator)
}

#[tokio::test(start_paused = true)]
async fn while_a_fleet_is_paused_no_member_starts_and_no_time_counts() {
    let (fixture, recorded) = (Arc::new(Fixture::default()), RecordedEvents::default());
    let (coordinator, control) = (pipeline(&fixture, &recorded), RunControl::new());
    let person = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        control.pause();
        // Far longer than the time limit of the fleet.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        let started = fixture.seen().order.len();
        control.resume();
        started
    };

    let (report, started) = tokio::join!(coordinator.run(&control), person);

    let report = report.expect("it began");
    assert!(report.success, "{report:?}");
    assert_eq!(started, 1);
    let lines = [
        "pipeline begins with 2",
        "first starts",
        "Paused",
        "first succeeds",
        "Resumed",
        "second starts",
        "second succeeds",
        "finished: true",
    ];
    assert_eq!(recorded.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_pause_requested_before_the_start_holds_and_can_be_cancelled() {
    let (fixture, recorded) = (Arc::new(Fixture::default()), RecordedEvents::default());
    let (coordinator, control) = (pipeline(&fixture, &recorded), RunControl::new());
    control.pause();
    let person = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        control.cancel();
    };

    let (report, ()) = tokio::join!(coordinator.run(&control), person);

    let report = report.expect("it began");
    assert_eq!(report.cut_short, Some(CutShort::Cancelled));
    assert_eq!(fixture.seen().order, []);
}
