//! A fleet that is held.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{LocalEngine, RunControl};
use autonoe_harness::{Coordinator, CutShort, Pipeline};
use autonoe_testkit::VirtualClock;

use crate::coordinate::scripted::{Act, End, Stage, Told};

fn pipeline(stage: &Arc<Stage>, told: &Told) -> Coordinator {
    let act = Act::new(10, End::Succeeds);
    let engine = Arc::new(LocalEngine::new(stage.clone()));
    let coordinator = Coordinator::new("fleet", engine, Pipeline {})
        .members(["first", "second"].map(|name| act.member(name)))
        .time(Duration::from_secs(60))
        .clock(Arc::new(VirtualClock::new()));
    told.watch(coordinator)
}

#[tokio::test(start_paused = true)]
async fn while_it_is_paused_nobody_starts_and_no_time_counts() {
    let (stage, told) = (Arc::new(Stage::default()), Told::default());
    let (coordinator, control) = (pipeline(&stage, &told), RunControl::new());
    let person = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        control.pause();
        // Far longer than the fleet may take.
        tokio::time::sleep(Duration::from_secs(3600)).await;
        let begun = stage.seen().order.len();
        control.resume();
        begun
    };

    let (report, begun) = tokio::join!(coordinator.run(&control), person);

    let report = report.expect("it began");
    assert!(report.result.success, "{report:?}");
    assert_eq!(begun, 1);
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
    assert_eq!(told.lines(), lines);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_was_asked_for_before_the_start_holds_and_can_be_cancelled() {
    let (stage, told) = (Arc::new(Stage::default()), Told::default());
    let (coordinator, control) = (pipeline(&stage, &told), RunControl::new());
    control.pause();
    let person = async {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        control.cancel();
    };

    let (report, ()) = tokio::join!(coordinator.run(&control), person);

    let report = report.expect("it began");
    assert_eq!(report.cut_short, Some(CutShort::Cancelled));
    assert_eq!(stage.seen().order, []);
}
