//! Hosts that were overtaken.

use std::time::Duration;

use autonoe_core::{Epoch, SessionHostError};
use autonoe_harness::TravelError;
use autonoe_testkit::SessionScript;

use crate::travel::setting::{Host, Stage, recorded};

#[tokio::test]
async fn a_host_that_was_overtaken_cannot_push_and_the_remote_stays_as_it_is() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    two.attach(2, Epoch(2)).await.expect("it runs");
    let before = stage.names();
    one.write("late.txt", "too late\n");

    let published = one.travels().publish(Epoch(1), Some(2)).await;
    let attached = one.attach(3, Epoch(1)).await;

    let overtaken = matches!(
        published,
        Err(TravelError::Overtaken {
            latest: Epoch(2),
            ..
        })
    );
    assert!(overtaken, "{published:?}");
    let (asked, latest) = (Epoch(1), Epoch(2));
    assert_eq!(attached, Err(SessionHostError::Fenced { asked, latest }));
    assert_eq!(stage.names(), before);
    // What it has stays there, until it takes the run again: then it is kept.
    assert_eq!(one.read("late.txt"), "too late\n");
    one.attach(3, Epoch(3)).await.expect("it runs");
    assert_eq!(one.read("late.txt"), "");
    let kept = one.travels().kept().await.expect("it is listed");
    let [kept] = &kept[..] else {
        panic!("{kept:?}");
    };
    let show = format!("{}:late.txt", kept.commit);
    let courier = stage.path("one/courier.git");
    assert_eq!(
        crate::travel::setting::git(&courier, &["show", &show]),
        "too late"
    );
    assert_eq!(recorded(&one), [1, 2, 3]);
}

#[tokio::test]
async fn of_two_hosts_with_one_epoch_one_comes_through() {
    let stage = Stage::new();
    let (one, two) = (stage.travels("one"), stage.travels("two"));

    let (first, second) = tokio::join!(one.take(Epoch(5)), two.take(Epoch(5)));

    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    let error = first.and(second).expect_err("one was first");
    assert!(matches!(
        error,
        TravelError::Overtaken {
            latest: Epoch(5),
            ..
        }
    ));
    // And it stays like that.
    let (first, second) = (one.take(Epoch(5)).await, two.take(Epoch(5)).await);
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
    assert_eq!(
        stage.on_remote(&["rev-list", "--count", "main..autonoe/shop"]),
        "1"
    );
}

#[tokio::test]
async fn many_hosts_that_take_over_at_once_leave_one_line_of_epochs() {
    let stage = Stage::new();
    // A host tries five times, and each of the four others can push before the last one once.
    let hosts: Vec<_> = (1..=5)
        .map(|number| stage.travels(&number.to_string()))
        .collect();
    let taking = hosts.iter().zip(1..);
    let taking = taking.map(|(host, epoch)| host.take(Epoch(epoch)));

    let taken = futures::future::join_all(taking).await;

    assert!(taken[4].is_ok(), "{taken:?}");
    let epochs = stage.on_remote(&[
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
    assert_eq!(stage.published("b.txt"), "5");
}

#[tokio::test]
async fn a_session_whose_host_is_overtaken_is_dropped() {
    let stage = Stage::new();
    let hangs = SessionScript::new("hangs").says("I begin.").hangs();
    let mut one = Host::with(stage.travels("one"), [hangs]);
    one.host = one.host.watch_every(Duration::from_millis(50));
    let two = stage.host("two");
    let overtaking = async {
        while one.played.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        two.attach(1, Epoch(2)).await
    };

    let (first, second) = tokio::join!(one.attach(1, Epoch(1)), overtaking);

    let (asked, latest) = (Epoch(1), Epoch(2));
    assert_eq!(first, Err(SessionHostError::Fenced { asked, latest }));
    assert!(second.expect("it runs").result.end.is_completed());
    assert_eq!((one.played.alive(), recorded(&two)), (0, vec![1]));
}
