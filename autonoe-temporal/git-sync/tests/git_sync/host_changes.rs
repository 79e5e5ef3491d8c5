//! Tests of runs that move from host to host.

use autonoe_core::RunId;
use autonoe_core::engine::{SessionHost, SessionHostError};
use autonoe_core::event::Retry;
use autonoe_core::time::Epoch;

use crate::fixture::{BRANCH, Fixture, key, recorded};

#[tokio::test]
async fn a_run_moves_back_and_forth_between_two_hosts() {
    let fixture = Fixture::new();
    let base = fixture.on_remote(&["rev-parse", "main"]);
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    let mut epochs = Vec::new();

    for (number, host) in [(1, &one), (2, &two), (3, &one), (4, &one), (5, &two)] {
        let epoch = host.claim().await;
        let outcome = host.attach(number, epoch).await.expect("it runs");
        assert!(outcome.result.end.is_completed());
        epochs.push(epoch);
    }

    assert!(epochs.is_sorted_by(|a, b| a < b), "{epochs:?}");
    assert_eq!(recorded(&two), [1, 2, 3, 4, 5]);
    for number in 1..=5 {
        let file = format!("session-{number}.txt");
        assert_eq!(fixture.published(&file), "worked");
        assert_eq!(two.read(&file), "worked\n");
    }
    assert_eq!(one.played.received().len() + two.played.received().len(), 5);
    // Other refs are unchanged.
    assert_eq!(fixture.on_remote(&["rev-parse", "main"]), base);
    let names = fixture.on_remote(&["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(names, format!("{BRANCH}\nmain"));
    let saved = fixture.unpublished_work("one");
    assert!(saved.is_empty(), "{saved:?}");
}

#[tokio::test]
async fn an_outcome_reported_on_one_host_is_reported_on_another_without_a_run() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    let epoch = one.claim().await;
    let first = one.attach(1, epoch).await.expect("it runs");

    let epoch = two.claim().await;
    let repeated = two.attach(1, epoch).await.expect("it is recorded");

    assert_eq!(repeated.result.end, first.result.end);
    assert_eq!(repeated.result.agent_session, first.result.agent_session);
    assert!(two.played.received().is_empty());
    assert_eq!(two.read("session-1.txt"), "worked\n");
}

#[tokio::test]
async fn the_commits_of_a_run_have_trailers() {
    let fixture = Fixture::new();
    let one = fixture.host("one");

    one.attach(1, Epoch(4)).await.expect("it runs");

    let messages =
        fixture.on_remote(&["log", "--first-parent", "--format=%B", "main..autonoe/shop"]);
    for line in [
        "Publish session 1",
        "Take over with epoch 4",
        "Autonoe-Run: shop",
        "Autonoe-Epoch: 4",
        "Autonoe-Claim: ",
        "Autonoe-Session: 1",
    ] {
        assert!(messages.contains(line), "{messages}");
    }
    assert_eq!(
        fixture.on_remote(&["rev-list", "--count", "main..autonoe/shop"]),
        "2"
    );
}

#[tokio::test]
async fn a_claim_changes_nothing_on_the_remote_and_any_host_sees_the_ledger() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    let before = fixture.names();
    assert_eq!(one.claim().await, Epoch(1));
    assert_eq!(fixture.names(), before);
    one.attach(1, Epoch(6)).await.expect("it runs");
    let before = fixture.names();

    assert_eq!(two.claim().await, Epoch(7));
    let seen = two.host.ledger_view(&RunId::new("shop")).await;

    assert_eq!(seen, one.host.ledger_view(&RunId::new("shop")).await);
    assert_eq!(fixture.names(), before);
    assert_eq!(recorded(&two), [1]);
}

#[tokio::test]
async fn a_host_serves_one_run() {
    let fixture = Fixture::new();
    let one = fixture.host("one");

    let claimed = one.host.claim(&RunId::new("other")).await;

    let Err(SessionHostError::Failed { failure, .. }) = claimed else {
        panic!("{claimed:?}");
    };
    assert_eq!(
        (failure.code.as_str(), failure.retry),
        ("other_run", Retry::Permanent)
    );
    assert!(!fixture.path("one/sync.git").exists());
    assert_eq!(key(1).run.as_str(), "shop");
}

#[tokio::test]
async fn the_end_of_a_run_is_published_once() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    let epoch = one.claim().await;
    one.attach(1, epoch).await.expect("it runs");

    one.conclude(epoch).await.expect("it is written");
    let tip = fixture.tip();
    one.conclude(epoch).await.expect("it is there");

    assert_eq!(fixture.tip(), tip);
    let journal = fixture.published(".autonoe/journal.jsonl");
    assert_eq!(journal.matches("run_ended").count(), 1, "{journal}");
    // It has ended on another host, too.
    let epoch = two.claim().await;
    two.attach(1, epoch).await.expect("it is recorded");
    let next = two.attach(2, epoch).await.expect_err("it has ended");
    assert!(
        next.to_string().contains("has ended on this host"),
        "{next}"
    );
    assert!(two.played.received().is_empty());
}

#[tokio::test]
async fn an_overtaken_host_does_not_end_a_run() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    two.attach(2, Epoch(2)).await.expect("it runs");
    let tip = fixture.tip();

    let late = one.conclude(Epoch(1)).await;

    let expected = SessionHostError::Fenced {
        requested: Epoch(1),
        latest: Epoch(2),
    };
    assert_eq!(late, Err(expected));
    assert_eq!(fixture.tip(), tip);
}

#[tokio::test]
async fn run_that_has_not_started_gets_no_branch_for_its_end() {
    let fixture = Fixture::new();
    let one = fixture.host("one");
    let epoch = one.claim().await;
    let names = fixture.names();

    one.conclude(epoch).await.expect("it needs no end");

    assert_eq!(fixture.names(), names);
}
