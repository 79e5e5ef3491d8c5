//! Tests of poll intervals of zero, which are refused because they would keep a processor busy.

use std::time::Duration;

use autonoe_core::engine::{Engine, EngineError, Placement};
use autonoe_harness::folder::FolderError;
use autonoe_harness::{MemberHandle, MemberManager, MemberServer};
use serde_json::json;

use crate::handles::fixture::{Fixture, order};
use crate::handles::job::{HANDLE_JOB, HandleJob};

const CALL: &str = ".every(0): ";

#[tokio::test]
async fn an_interval_of_zero_is_refused_by_the_name_of_its_call() {
    let fixture = Fixture::new();
    let run = order("a", HANDLE_JOB, json!({"does": "hold"}));
    let folder = fixture.folder("a");
    folder.submit(&run).expect("writable");

    let serving = MemberServer::new(folder.clone(), HandleJob::in_folders(fixture.root()))
        .every(Duration::ZERO);
    let served = serving.run().await.expect_err("no interval");
    let handle = MemberHandle::open(folder).expect("it is there");
    let waited = handle.every(Duration::ZERO).wait().await;
    let manager = MemberManager::in_process(fixture.root(), HandleJob::in_folders(fixture.root()))
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
