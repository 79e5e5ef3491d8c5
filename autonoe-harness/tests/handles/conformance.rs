//! Every handle does what handles must do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use autonoe_core::{Engine, SystemClock};
use autonoe_harness::conformance::{self, HandleJob};
use autonoe_harness::{HarnessHandle, HarnessManager, HarnessNotes, LocalHandle};

use crate::handles::stage::{OFTEN, Stage};

#[tokio::test(start_paused = true)]
async fn a_sub_harness_in_this_process_is_led_as_one_must_be() {
    let report = conformance::handle(async |order| {
        let notes = HarnessNotes::default();
        let raised = notes.clone();
        let job = HandleJob::new(move |alert| raised.alert(alert.clone()));
        let handle = LocalHandle::start_with(order, Arc::new(job), SystemClock, notes);
        Arc::new(handle) as Arc<dyn HarnessHandle>
    });

    let report = report.await;

    report.assert();
    assert_eq!(report.passed().len(), 16);
}

#[tokio::test]
async fn a_sub_harness_in_a_process_of_its_own_is_led_as_one_must_be() {
    let stage = Stage::new();
    let manager = stage.manager();

    let report = conformance::handle(async |order| {
        let handle = manager.spawn(order).await.expect("it starts");
        Arc::new(handle) as Arc<dyn HarnessHandle>
    });
    let report = report.await;

    report.assert();
    assert_eq!(report.passed().len(), 16);
    for (id, view) in manager.list().expect("readable") {
        assert!(view.expect("readable").outcome.is_some(), "{id}");
    }
}

#[tokio::test]
async fn a_sub_harness_with_a_folder_in_this_process_is_led_as_one_must_be() {
    let stage = Stage::new();
    let manager =
        HarnessManager::in_process(stage.root(), Arc::new(HandleJob::in_folders(stage.root())))
            .every(OFTEN);

    let report = conformance::handle(async |order| {
        let handle = manager.spawn(order).await.expect("it starts");
        Arc::new(handle) as Arc<dyn HarnessHandle>
    });

    report.await.assert();
}

#[tokio::test]
async fn the_manager_is_an_engine_as_one_must_be() {
    let stage = Stage::new();
    let number = AtomicU32::new(0);

    // The suite watches its runs from inside, so they are tasks of this process, with folders.
    let report = autonoe_testkit::conformance::engine(async |runner| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let root = stage.root().join(format!("engine-{number}"));
        Arc::new(HarnessManager::in_process(root, runner).every(OFTEN)) as Arc<dyn Engine>
    });

    report.await.assert();
}
