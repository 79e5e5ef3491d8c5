//! Tests of hosts that were overtaken.

use std::time::Duration;

use autonoe_core::engine::SessionHostError;
use autonoe_core::time::Epoch;
use autonoe_git_sync::SyncError;
use autonoe_testkit::SessionScript;

use crate::fixture::{Fixture, Host, recorded};

#[tokio::test]
async fn a_host_that_was_overtaken_cannot_push_and_the_remote_stays_as_it_is() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    two.attach(2, Epoch(2)).await.expect("it runs");
    let before = fixture.names();
    one.write("late.txt", "too late\n");

    let published = one.synced_project().publish(Epoch(1), Some(2)).await;
    let attached = one.attach(3, Epoch(1)).await;

    let overtaken = matches!(
        published,
        Err(SyncError::Overtaken {
            latest: Epoch(2),
            ..
        })
    );
    assert!(overtaken, "{published:?}");
    let (requested, latest) = (Epoch(1), Epoch(2));
    assert_eq!(
        attached,
        Err(SessionHostError::Fenced { requested, latest })
    );
    assert_eq!(fixture.names(), before);
    // Its work stays there until it takes over the run again: then it is kept.
    assert_eq!(one.read("late.txt"), "too late\n");
    one.attach(3, Epoch(3)).await.expect("it runs");
    assert_eq!(one.read("late.txt"), "");
    let saved = fixture.unpublished_work("one");
    let [saved] = &saved[..] else {
        panic!("{saved:?}");
    };
    let show = format!("{saved}:late.txt");
    let sync_dir = fixture.path("one/sync.git");
    assert_eq!(crate::fixture::git(&sync_dir, &["show", &show]), "too late");
    assert_eq!(recorded(&one), [1, 2, 3]);
}

#[tokio::test]
async fn of_two_hosts_with_the_same_epoch_one_succeeds() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.synced_project("one"), fixture.synced_project("two"));

    let (first, second) = tokio::join!(one.take_over(Epoch(5)), two.take_over(Epoch(5)));

    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let error = first.and(second).expect_err("one was first");
    assert!(matches!(
        error,
        SyncError::Overtaken {
            latest: Epoch(5),
            ..
        }
    ));
    // The result does not change.
    let (first, second) = (one.take_over(Epoch(5)).await, two.take_over(Epoch(5)).await);
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    assert_eq!(
        fixture.on_remote(&["rev-list", "--count", "main..autonoe/shop"]),
        "1"
    );
}

#[tokio::test]
async fn many_hosts_that_take_over_at_once_leave_one_line_of_epochs() {
    let fixture = Fixture::new();
    // A host tries five times, and each of the four others can push before the last one once.
    let hosts: Vec<_> = (1..=5)
        .map(|number| fixture.synced_project(&number.to_string()))
        .collect();
    let taking = hosts.iter().zip(1..);
    let taking = taking.map(|(host, epoch)| host.take_over(Epoch(epoch)));

    let takeovers = futures::future::join_all(taking).await;

    assert!(takeovers[4].is_ok(), "{takeovers:?}");
    let epochs = fixture.on_remote(&[
        "log",
        "--reverse",
        "--format=%(trailers:key=Autonoe-Epoch,valueonly,separator=)",
        "main..autonoe/shop",
    ]);
    let epochs: Vec<u32> = epochs
        .lines()
        .map(|epoch| epoch.parse().expect("a number"))
        .collect();
    assert!(epochs.is_sorted_by(|a, b| a < b), "{epochs:?}");
    for (host, epoch) in hosts.iter().zip(1..) {
        let work = host.project().root().join("b.txt");
        std::fs::write(work, epoch.to_string()).expect("a file");
        let published = host.publish(Epoch(epoch), None).await;
        assert_eq!(published.is_ok(), epoch == 5, "{published:?}");
    }
    assert_eq!(fixture.published("b.txt"), "5");
}

#[tokio::test]
async fn session_of_an_overtaken_host_is_dropped() {
    let fixture = Fixture::new();
    let hangs = SessionScript::new("hangs").says("I begin.").hangs();
    let mut one = Host::with(fixture.synced_project("one"), [hangs]);
    one.host = one.host.takeover_check_interval(Duration::from_millis(50));
    let two = fixture.host("two");
    let overtaking = async {
        while one.played.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        two.attach(1, Epoch(2)).await
    };

    let (first, second) = tokio::join!(one.attach(1, Epoch(1)), overtaking);

    let (requested, latest) = (Epoch(1), Epoch(2));
    assert_eq!(first, Err(SessionHostError::Fenced { requested, latest }));
    assert!(second.expect("it runs").result.end.is_completed());
    assert_eq!((one.played.open_clients(), recorded(&two)), (0, vec![1]));
}

#[tokio::test]
async fn a_host_that_checks_without_a_pause_is_refused() {
    let fixture = Fixture::new();
    let mut one = fixture.host("one");
    one.host = one.host.takeover_check_interval(Duration::ZERO);

    let refused = one.attach(1, Epoch(1)).await;

    let Err(SessionHostError::Failed { failure, .. }) = &refused else {
        panic!("{refused:?}");
    };
    assert_eq!(failure.code, "invalid_value");
    assert!(one.played.received().is_empty());
}
