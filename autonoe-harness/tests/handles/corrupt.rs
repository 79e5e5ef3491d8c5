//! Tests of corrupt files: each is an error, and stays as it is.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, EngineError, RunEnding, RunOutcome};
use autonoe_harness::MemberServer;
use serde_json::json;

use crate::handles::fixture::{Fixture, eventually, order, within};
use crate::handles::job::HANDLE_JOB;
use crate::handles::roles::Jobs;

#[tokio::test]
async fn nothing_is_run_and_nothing_overwritten_when_a_file_is_corrupt() {
    for (name, text, code) in [
        ("order.json", "{", "corrupt"),
        ("order.json", "", "corrupt"),
        ("outcome.json", "{\"ending\":\"maybe\"}", "corrupt"),
        ("outcome.json", "\0\0\0", "corrupt"),
        ("status.json", "nonsense", "corrupt"),
        (
            "status.json",
            "{\"v\":9,\"id\":\"a\",\"status\":\"running\",\"progress\":0,\"iteration\":0,\"spent\":{},\"epoch\":1,\"updatedAt\":\"2026-01-01T00:00:00Z\"}",
            "other_version",
        ),
        (
            "status.json",
            "{\"v\":2,\"state\":[\"new\"]}",
            "other_version",
        ),
        ("work.jsonl", "{\"v\":1,\"nothing\":true}\n", "corrupt"),
        (
            "work.jsonl",
            "{\"v\":2,\"nothing\":true}\n",
            "other_version",
        ),
    ] {
        let fixture = Fixture::new();
        let folder = fixture.folder("a");
        let run = order("a", HANDLE_JOB, json!({"does": "give", "value": 1}));
        folder.submit(&run).expect("writable");
        let path = folder.path().join(name);
        fs::write(&path, text).expect("writable");

        let served = MemberServer::new(folder.clone(), Arc::new(Jobs))
            .run()
            .await;

        assert!(
            matches!(&served, Err(error) if error.code() == code),
            "{name} {text}: {served:?}"
        );
        assert_eq!(fs::read_to_string(&path).expect("there"), text, "{name}");
        if name != "outcome.json" {
            assert!(!folder.path().join("outcome.json").exists(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_manager_reports_a_corrupt_member_and_serves_the_others() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let give = json!({"does": "give", "value": 1});
    fixture
        .folder("a")
        .submit(&order("a", HANDLE_JOB, give.clone()))
        .expect("writable");
    fs::write(fixture.folder("a").path().join("order.json"), "{").expect("writable");
    manager
        .spawn(order("b", HANDLE_JOB, give))
        .await
        .expect("it starts");

    let outcome = within(manager.wait(&RunId::new("b")))
        .await
        .expect("it ends");
    let refused = within(manager.wait(&RunId::new("a"))).await;

    assert_eq!(outcome, RunOutcome::succeeded(json!(1)));
    assert!(
        matches!(refused, Err(EngineError::Failed { .. })),
        "{refused:?}"
    );
    let listed = manager.list().expect("readable");
    let corrupt = listed[0].1.as_ref().expect_err("it is corrupt");
    assert_eq!(corrupt.code(), "corrupt");
    assert!(listed[1].1.is_ok());
}

/// Corrupt contents of a status file.
const CORRUPT: [&str; 4] = ["{", "", "null", "{\"v\":1,\"progress\":1e999}"];

#[tokio::test]
async fn a_member_with_a_corrupt_status_can_be_stopped() {
    for text in CORRUPT {
        let fixture = Fixture::new();
        let manager = fixture.manager();
        let run = order("a", HANDLE_JOB, json!({"does": "hold"}));
        let handle = manager.spawn(run).await.expect("it starts");
        // After its only report, it does not write its status until it is requested to stop.
        eventually("its report", || {
            let view = fixture.folder("a").view();
            view.is_ok_and(|view| view.pid.is_some() && view.progress.iteration == 2)
        })
        .await;
        fs::write(handle.folder().path().join("status.json"), text).expect("writable");

        let cancelled_run = manager.cancel(&RunId::new("a"), "enough").await;
        cancelled_run.expect("it can be asked");
        let outcome = within(manager.wait(&RunId::new("a"))).await;

        let outcome = outcome.expect("it ends");
        assert_eq!(outcome.ending, cancelled("enough"), "{text}");
        assert!(fixture.has_no_processes("a"));
    }
}

#[tokio::test]
async fn a_member_with_a_corrupt_status_can_be_killed() {
    for text in CORRUPT {
        let fixture = Fixture::new();
        let manager = fixture.manager();
        let run = order("a", HANDLE_JOB, json!({"does": "stubborn"}));
        let handle = manager.spawn(run).await.expect("it starts");
        // Before its first report, it has spent nothing.
        eventually("its report", || {
            let view = fixture.folder("a").view();
            view.is_ok_and(|view| view.pid.is_some() && view.progress.iteration > 1)
        })
        .await;
        // It reports its progress again and again; a folder cannot be replaced by a file.
        let status = handle.folder().path().join("status.json");
        while fs::create_dir(&status).is_err() {
            fs::remove_file(&status).expect("there");
        }
        fs::write(status.join("text"), text).expect("writable");

        let reopened = manager.handle(handle.id()).expect("it is there");
        let outcome = within(reopened.kill(Duration::from_millis(50))).await;

        let outcome = outcome.expect("it is killed");
        assert_eq!(outcome.ending, cancelled("killed"), "{text}");
        assert_eq!(outcome.spent.cost.unknown_parts, 1);
        assert!(fixture.has_no_processes("a"));
    }
}

#[tokio::test]
async fn an_unserved_member_with_a_corrupt_status_can_be_stopped() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let folder = fixture.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, json!({"does": "hold"})))
        .expect("writable");
    fs::write(folder.path().join("status.json"), "{").expect("writable");

    let cancelled_run = manager.cancel(&RunId::new("a"), "enough").await;
    cancelled_run.expect("it can be asked");
    let outcome = within(manager.wait(&RunId::new("a"))).await;

    assert_eq!(outcome.expect("it ends").ending, cancelled("enough"));
    let status = fs::read_to_string(folder.path().join("status.json"));
    assert_eq!(status.expect("there"), "{");
}

fn cancelled(reason: &str) -> RunEnding {
    RunEnding::Cancelled {
        reason: reason.to_owned(),
    }
}

#[tokio::test]
async fn a_corrupt_status_does_not_start_another_process() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let folder = fixture.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, json!({"does": "hold"})))
        .expect("writable");
    fs::write(folder.path().join("status.json"), "{").expect("writable");

    let refused = within(manager.wait(&RunId::new("a"))).await;

    assert!(
        matches!(refused, Err(EngineError::Failed { .. })),
        "{refused:?}"
    );
    assert!(fixture.has_no_processes("a"));
    assert!(!folder.path().join("work.jsonl").exists());
}
