//! Intervals of zero, which would keep a processor busy.

use std::time::Duration;

use autonoe_core::{Engine, EngineError, Placement};
use autonoe_harness::conformance::{HANDLE_JOB, HandleJob};
use autonoe_harness::{FolderError, HarnessHandle, HarnessManager, ProcessHandle, Serving};
use serde_json::json;

use crate::handles::stage::{Stage, order};

const CALL: &str = ".every(0): ";

#[tokio::test]
async fn an_interval_of_zero_is_refused_by_the_name_of_its_call() {
    let stage = Stage::new();
    let run = order("a", HANDLE_JOB, json!({"does": "hold"}));
    let folder = stage.folder("a");
    folder.submit(&run).expect("writable");

    let serving =
        Serving::new(folder.clone(), HandleJob::in_folders(stage.root())).every(Duration::ZERO);
    let served = serving.run().await.expect_err("no interval");
    let handle = ProcessHandle::open(folder).expect("it is there");
    let waited = handle.every(Duration::ZERO).wait().await;
    let manager = HarnessManager::in_process(stage.root(), HandleJob::in_folders(stage.root()))
        .every(Duration::ZERO);
    let submitted = manager.submit(run, Placement::anywhere()).await;

    assert!(matches!(served, FolderError::InvalidValue(_)), "{served}");
    assert!(served.to_string().starts_with(CALL), "{served}");
    let waited = waited.expect_err("no interval");
    assert!(waited.to_string().starts_with(CALL), "{waited}");
    assert_eq!(waited.code(), "invalid_value");
    match submitted {
        Err(EngineError::Refused { reason, .. }) => assert!(reason.starts_with(CALL), "{reason}"),
        other => panic!("{other:?}"),
    }
}
