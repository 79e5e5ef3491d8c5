//! A kill ends everything.

use std::time::Duration;

use autonoe_core::{Engine, RunEnding, RunId};
use autonoe_harness::{HarnessHandle, HarnessStatus};
use serde_json::json;

use crate::handles::stage::{Stage, eventually, kill_nine, lives, order, signal, within};

async fn pids(stage: &Stage) -> Vec<u32> {
    let mut pids = Vec::new();
    for name in ["child", "detached", "orphan"] {
        pids.push(stage.told_in(name).await.parse().expect("a number"));
    }
    pids
}

#[tokio::test]
async fn upstream_8_a_kill_ends_the_whole_tree_and_not_one_process() {
    let stage = Stage::new();
    let manager = stage.manager();
    let input = json!({"folder": stage.path(), "stubborn": true});
    let handle = manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let mut pids = pids(&stage).await;
    pids.extend(handle.refresh().await.expect("readable").pid);
    assert!(pids.len() == 4 && pids.iter().all(|pid| lives(*pid)));

    let outcome = within(handle.kill(Duration::from_millis(300)))
        .await
        .expect("it ends");

    let still: Vec<_> = pids.iter().filter(|pid| lives(**pid)).collect();
    assert!(still.is_empty(), "{still:?}");
    let killed = RunEnding::Cancelled {
        reason: "killed".into(),
    };
    assert_eq!(outcome.ending, killed);
    assert_eq!(handle.status(), HarnessStatus::Stopped);
    assert!(stage.nothing_is_left_of("a"));
    assert_eq!(
        within(manager.wait(&RunId::new("a")))
            .await
            .expect("it ended"),
        outcome
    );
}

#[tokio::test]
async fn a_run_that_is_stopped_has_ended_only_when_its_tools_have() {
    let stage = Stage::new();
    let manager = stage.manager();
    let input = json!({"folder": stage.path()});
    manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let pids = pids(&stage).await;

    manager
        .cancel(&RunId::new("a"), "enough")
        .await
        .expect("it is there");
    let outcome = within(manager.wait(&RunId::new("a")))
        .await
        .expect("it ends");

    assert_eq!(
        outcome.ending,
        RunEnding::Cancelled {
            reason: "enough".into()
        }
    );
    assert!(pids.iter().all(|pid| !lives(*pid)));
    assert!(manager.reap().await.expect("readable").is_empty());
}

#[tokio::test]
async fn what_a_killed_process_leaves_is_ended_before_the_next_begins() {
    let stage = Stage::new();
    let manager = stage.manager().restarts(1);
    let input = json!({"folder": stage.path(), "stubborn": true});
    let handle = manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let first = pids(&stage).await;
    for name in ["child", "detached", "orphan"] {
        std::fs::remove_file(stage.path().join(name)).expect("there");
    }

    kill_nine(
        handle
            .refresh()
            .await
            .expect("readable")
            .pid
            .expect("it lives"),
    );
    let second = pids(&stage).await;

    assert!(first.iter().all(|pid| !lives(*pid)), "{first:?}");
    assert!(second.iter().all(|pid| lives(*pid)), "{second:?}");
    within(handle.kill(Duration::ZERO)).await.expect("it ends");
    eventually("their end", || second.iter().all(|pid| !lives(*pid))).await;
}

#[tokio::test]
async fn one_that_is_asked_to_end_and_does_not_listen_is_killed_after_a_time() {
    let stage = Stage::new();
    let manager = stage.manager().kill_after(Duration::from_millis(300));
    let input = json!({"folder": stage.path(), "stubborn": true});
    let handle = manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let mut pids = pids(&stage).await;
    let serving = handle.refresh().await.expect("readable").pid;
    pids.extend(serving);
    // It cannot even look whether it is to end.
    signal("-STOP", serving.expect("it lives"));

    let run = RunId::new("a");
    manager.cancel(&run, "enough").await.expect("it is there");
    let outcome = within(manager.wait(&run)).await.expect("it ends");

    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    let still: Vec<_> = pids.iter().filter(|pid| lives(**pid)).collect();
    assert!(still.is_empty(), "{still:?}");
}
