//! Conformance tests: handles behave the same for processes and for tasks of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, RunSpec};
use autonoe_harness::MemberManager;

use crate::handles::checks;
use crate::handles::fixture::{Fixture, OFTEN};
use crate::handles::job::{HANDLE_JOB, HandleJob};

/// Time limit of one check.
const LIMIT: Duration = Duration::from_secs(120);

/// Checks the handles of members that `manager` starts.
async fn check_handles(manager: &MemberManager) {
    for (number, (name, input, check)) in checks::all().into_iter().enumerate() {
        let order = RunSpec::new(RunId::new(format!("handle-{number}")), HANDLE_JOB, input);
        let handle = manager.spawn(order).await.expect("it starts");
        let checked = tokio::time::timeout(LIMIT, check(Arc::new(handle))).await;
        match checked {
            Ok(Ok(())) => {}
            other => panic!("{name}: {other:?}"),
        }
    }
    for (id, view) in manager.list().expect("readable") {
        assert!(view.expect("readable").outcome.is_some(), "{id}");
    }
}

#[tokio::test]
async fn the_handle_of_a_member_process_conforms() {
    let fixture = Fixture::new();

    check_handles(&fixture.manager()).await;
}

// Shows: fleets/handle/pid
#[tokio::test]
async fn the_handle_of_a_member_in_this_process_conforms() {
    let fixture = Fixture::new();
    let job = Arc::new(HandleJob::in_folders(fixture.root()));

    check_handles(&MemberManager::in_process(fixture.root(), job).every(OFTEN)).await;
}

#[tokio::test]
async fn the_manager_conforms_to_the_engine_port() {
    let fixture = Fixture::new();
    let number = AtomicU32::new(0);

    // The suite observes its runs from inside, so they are tasks of this process, with folders.
    let report = autonoe_testkit::conformance::engine(async |runner| {
        let number = number.fetch_add(1, Ordering::Relaxed);
        let root = fixture.root().join(format!("engine-{number}"));
        Arc::new(MemberManager::in_process(root, runner).every(OFTEN)) as Arc<dyn Engine>
    });

    report.await.assert();
}
