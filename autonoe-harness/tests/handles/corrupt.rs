//! A file that cannot be understood is an error, and stays as it is.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Engine, EngineError, RunEnding, RunId, RunOutcome};
use autonoe_harness::conformance::HANDLE_JOB;
use autonoe_harness::{FolderError, HarnessHandle, Serving};
use serde_json::json;

use crate::handles::roles::Jobs;
use crate::handles::stage::{Stage, eventually, order, within};

#[tokio::test]
async fn nothing_is_run_and_nothing_overwritten_when_a_file_is_corrupt() {
    for (name, text) in [
        ("order.json", "{"),
        ("order.json", ""),
        ("outcome.json", "{\"ending\":\"maybe\"}"),
        ("outcome.json", "\0\0\0"),
        ("status.json", "nonsense"),
        (
            "status.json",
            "{\"v\":9,\"id\":\"a\",\"status\":\"running\",\"progress\":0,\"iteration\":0,\"spent\":{},\"epoch\":1,\"updatedAt\":\"2026-01-01T00:00:00Z\"}",
        ),
        ("journal.jsonl", "{\"v\":1,\"nothing\":true}\n"),
    ] {
        let stage = Stage::new();
        let folder = stage.folder("a");
        let run = order("a", HANDLE_JOB, json!({"does": "give", "value": 1}));
        folder.submit(&run).expect("writable");
        let path = folder.path().join(name);
        fs::write(&path, text).expect("writable");

        let served = Serving::new(folder.clone(), Arc::new(Jobs)).run().await;

        assert!(
            matches!(served, Err(FolderError::Corrupt { .. })),
            "{name} {text}: {served:?}"
        );
        assert_eq!(fs::read_to_string(&path).expect("there"), text, "{name}");
        if name != "outcome.json" {
            assert!(!folder.path().join("outcome.json").exists(), "{name}");
        }
    }
}

#[tokio::test]
async fn a_manager_tells_which_one_is_corrupt_and_goes_on_with_the_others() {
    let stage = Stage::new();
    let manager = stage.manager();
    let give = json!({"does": "give", "value": 1});
    stage
        .folder("a")
        .submit(&order("a", HANDLE_JOB, give.clone()))
        .expect("writable");
    fs::write(stage.folder("a").path().join("order.json"), "{").expect("writable");
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

/// What somebody may have made of a status.
const CORRUPT: [&str; 4] = ["{", "", "null", "{\"v\":1,\"progress\":1e999}"];

#[tokio::test]
async fn a_status_that_is_corrupt_keeps_nobody_from_stopping_it() {
    for text in CORRUPT {
        let stage = Stage::new();
        let manager = stage.manager();
        let run = order("a", HANDLE_JOB, json!({"does": "hold"}));
        let handle = manager.spawn(run).await.expect("it starts");
        // After its only report, it does not write its status until somebody asks it to end.
        eventually("its report", || {
            let view = stage.folder("a").view();
            view.is_ok_and(|view| view.pid.is_some() && view.at.iteration == 2)
        })
        .await;
        fs::write(handle.folder().path().join("status.json"), text).expect("writable");

        let asked = manager.cancel(&RunId::new("a"), "enough").await;
        asked.expect("it can be asked");
        let outcome = within(manager.wait(&RunId::new("a"))).await;

        let outcome = outcome.expect("it ends");
        assert_eq!(outcome.ending, cancelled("enough"), "{text}");
        assert!(stage.nothing_is_left_of("a"));
    }
}

#[tokio::test]
async fn a_status_that_is_corrupt_keeps_nobody_from_killing_it() {
    for text in CORRUPT {
        let stage = Stage::new();
        let manager = stage.manager();
        let run = order("a", HANDLE_JOB, json!({"does": "stubborn"}));
        let handle = manager.spawn(run).await.expect("it starts");
        eventually("its start", || {
            let view = stage.folder("a").view();
            view.is_ok_and(|view| view.pid.is_some())
        })
        .await;
        // It says how far it is again and again; nobody replaces a folder by a file.
        let status = handle.folder().path().join("status.json");
        while fs::create_dir(&status).is_err() {
            fs::remove_file(&status).expect("there");
        }
        fs::write(status.join("text"), text).expect("writable");

        let again = manager.handle(handle.id()).expect("it is there");
        let outcome = within(again.kill(Duration::from_millis(50))).await;

        let outcome = outcome.expect("it is killed");
        assert_eq!(outcome.ending, cancelled("killed"), "{text}");
        assert_eq!(outcome.spent.cost.unknown_parts, 1);
        assert!(stage.nothing_is_left_of("a"));
    }
}

#[tokio::test]
async fn one_that_nobody_serves_and_whose_status_is_corrupt_can_be_stopped() {
    let stage = Stage::new();
    let manager = stage.manager();
    let folder = stage.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, json!({"does": "hold"})))
        .expect("writable");
    fs::write(folder.path().join("status.json"), "{").expect("writable");

    let asked = manager.cancel(&RunId::new("a"), "enough").await;
    asked.expect("it can be asked");
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
async fn a_status_that_is_corrupt_is_no_reason_to_start_another_process() {
    let stage = Stage::new();
    let manager = stage.manager();
    let folder = stage.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, json!({"does": "hold"})))
        .expect("writable");
    fs::write(folder.path().join("status.json"), "{").expect("writable");

    let refused = within(manager.wait(&RunId::new("a"))).await;

    assert!(
        matches!(refused, Err(EngineError::Failed { .. })),
        "{refused:?}"
    );
    assert!(stage.nothing_is_left_of("a"));
    assert!(!folder.path().join("journal.jsonl").exists());
}
