//! Tests of killing a member with its whole process tree.

use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, RunEnding};
use autonoe_harness::MemberHandle;
use autonoe_harness::folder::MemberStatus;
use autonoe_testkit::VirtualClock;
use serde_json::json;
use tokio::time::Instant;

use crate::handles::fixture::{Fixture, eventually, kill_nine, lives, order, signal, within};
use crate::handles::job::HANDLE_JOB;

async fn pids(fixture: &Fixture) -> Vec<u32> {
    let mut pids = Vec::new();
    for name in ["child", "detached", "orphan"] {
        pids.push(fixture.wait_for_file(name).await.parse().expect("a number"));
    }
    pids
}

#[tokio::test]
async fn upstream_8_a_kill_ends_the_whole_tree_and_not_one_process() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let input = json!({"folder": fixture.path(), "stubborn": true});
    let handle = manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let mut pids = pids(&fixture).await;
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
    assert_eq!(handle.view().status, MemberStatus::Stopped);
    assert!(fixture.has_no_processes("a"));
    assert_eq!(
        within(manager.wait(&RunId::new("a")))
            .await
            .expect("it ended"),
        outcome
    );
}

#[tokio::test(start_paused = true)]
async fn a_forced_kill_waits_30_seconds_for_an_orderly_end() {
    let fixture = Fixture::new();
    let folder = fixture.folder("a");
    folder
        .submit(&order("a", HANDLE_JOB, json!({"does": "hold"})))
        .expect("writable");
    let handle = MemberHandle::open(folder).expect("it is there");
    let handle = handle.clock(VirtualClock::new());
    let started = Instant::now();

    // Nothing runs the member, so it never ends by itself.
    let outcome = handle
        .kill(MemberHandle::KILL_TIMEOUT)
        .await
        .expect("it ends");

    assert_eq!(started.elapsed().as_secs(), 30);
    let reason = "killed".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
}

#[tokio::test]
async fn a_run_that_is_stopped_has_ended_only_when_its_tools_have() {
    let fixture = Fixture::new();
    let manager = fixture.manager();
    let input = json!({"folder": fixture.path()});
    manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let pids = pids(&fixture).await;

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
    assert!(fixture.has_no_processes("a"));
}

#[tokio::test]
async fn remains_of_a_killed_process_are_killed_before_the_next_starts() {
    let fixture = Fixture::new();
    let manager = fixture.manager().restarts(1);
    let input = json!({"folder": fixture.path(), "stubborn": true});
    let handle = manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let first = pids(&fixture).await;
    for name in ["child", "detached", "orphan"] {
        std::fs::remove_file(fixture.path().join(name)).expect("there");
    }

    kill_nine(
        handle
            .refresh()
            .await
            .expect("readable")
            .pid
            .expect("it lives"),
    );
    let second = pids(&fixture).await;

    assert!(first.iter().all(|pid| !lives(*pid)), "{first:?}");
    assert!(second.iter().all(|pid| lives(*pid)), "{second:?}");
    within(handle.kill(Duration::ZERO)).await.expect("it ends");
    eventually("their end", || second.iter().all(|pid| !lives(*pid))).await;
}

#[tokio::test]
async fn a_member_that_ignores_a_stop_request_is_killed_after_a_timeout() {
    let fixture = Fixture::new();
    let manager = fixture.manager().kill_after(Duration::from_millis(300));
    let input = json!({"folder": fixture.path(), "stubborn": true});
    let handle = manager
        .spawn(order("a", "tree", input))
        .await
        .expect("it starts");
    let mut pids = pids(&fixture).await;
    let serving = handle.refresh().await.expect("readable").pid;
    pids.extend(serving);
    // It cannot even read the stop request.
    signal("-STOP", serving.expect("it lives"));

    let run = RunId::new("a");
    manager.cancel(&run, "enough").await.expect("it is there");
    let outcome = within(manager.wait(&run)).await.expect("it ends");

    let reason = "enough".to_owned();
    assert_eq!(outcome.ending, RunEnding::Cancelled { reason });
    let still: Vec<_> = pids.iter().filter(|pid| lives(**pid)).collect();
    assert!(still.is_empty(), "{still:?}");
}
