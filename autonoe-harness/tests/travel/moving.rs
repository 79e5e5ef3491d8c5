//! Runs that move from host to host.

use autonoe_core::{Epoch, Retry, RunId, SessionHost, SessionHostError};

use crate::travel::setting::{BRANCH, Stage, key, recorded};

#[tokio::test]
async fn a_run_goes_back_and_forth_between_two_hosts() {
    let stage = Stage::new();
    let base = stage.on_remote(&["rev-parse", "main"]);
    let (one, two) = (stage.host("one"), stage.host("two"));
    let mut told = Vec::new();

    for (number, host) in [(1, &one), (2, &two), (3, &one), (4, &one), (5, &two)] {
        let epoch = host.claim().await;
        let outcome = host.attach(number, epoch).await.expect("it runs");
        assert!(outcome.result.end.is_completed());
        told.push(epoch);
    }

    assert!(told.is_sorted_by(|a, b| a < b), "{told:?}");
    assert_eq!(recorded(&two), [1, 2, 3, 4, 5]);
    for number in 1..=5 {
        let file = format!("session-{number}.txt");
        assert_eq!(stage.published(&file), "worked");
        assert_eq!(two.read(&file), "worked\n");
    }
    assert_eq!(one.played.received().len() + two.played.received().len(), 5);
    // Nobody else's names were touched.
    assert_eq!(stage.on_remote(&["rev-parse", "main"]), base);
    let names = stage.on_remote(&["for-each-ref", "--format=%(refname:short)"]);
    assert_eq!(names, format!("{BRANCH}\nmain"));
    let kept = one.travels().kept().await.expect("it is listed");
    assert!(kept.is_empty(), "{kept:?}");
}

#[tokio::test]
async fn an_outcome_that_was_told_on_one_host_is_told_on_another_and_nothing_runs() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    let epoch = one.claim().await;
    let first = one.attach(1, epoch).await.expect("it runs");

    let epoch = two.claim().await;
    let again = two.attach(1, epoch).await.expect("it is recorded");

    assert_eq!(again.result.end, first.result.end);
    assert_eq!(again.result.agent_session, first.result.agent_session);
    assert!(two.played.received().is_empty());
    assert_eq!(two.read("session-1.txt"), "worked\n");
}

#[tokio::test]
async fn the_commits_of_a_run_say_whose_they_are() {
    let stage = Stage::new();
    let one = stage.host("one");

    one.attach(1, Epoch(4)).await.expect("it runs");

    let messages = stage.on_remote(&["log", "--first-parent", "--format=%B", "main..autonoe/shop"]);
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
        stage.on_remote(&["rev-list", "--count", "main..autonoe/shop"]),
        "2"
    );
}

#[tokio::test]
async fn a_claim_changes_nothing_on_the_remote_and_the_ledger_is_seen_from_anywhere() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    let before = stage.names();
    assert_eq!(one.claim().await, Epoch(1));
    assert_eq!(stage.names(), before);
    one.attach(1, Epoch(6)).await.expect("it runs");
    let before = stage.names();

    assert_eq!(two.claim().await, Epoch(7));
    let seen = two.host.look(&RunId::new("shop")).await;

    assert_eq!(seen, one.host.look(&RunId::new("shop")).await);
    assert_eq!(stage.names(), before);
    assert_eq!(recorded(&two), [1]);
}

#[tokio::test]
async fn a_host_serves_one_run() {
    let stage = Stage::new();
    let one = stage.host("one");

    let claimed = one.host.claim(&RunId::new("other")).await;

    let Err(SessionHostError::Failed { failure, .. }) = claimed else {
        panic!("{claimed:?}");
    };
    assert_eq!(
        (failure.code.as_str(), failure.retry),
        ("other_run", Retry::Useless)
    );
    assert!(!stage.path("one/courier.git").exists());
    assert_eq!(key(1).run.as_str(), "shop");
}

#[tokio::test]
async fn the_end_of_a_run_is_published_once() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    let epoch = one.claim().await;
    one.attach(1, epoch).await.expect("it runs");

    one.conclude(epoch).await.expect("it is written");
    let tip = stage.tip();
    one.conclude(epoch).await.expect("it is there");

    assert_eq!(stage.tip(), tip);
    let journal = stage.published(".autonoe/journal.jsonl");
    assert_eq!(journal.matches("run_ended").count(), 1, "{journal}");
    // On another host it has ended, too.
    let epoch = two.claim().await;
    two.attach(1, epoch).await.expect("it is recorded");
    let next = two.attach(2, epoch).await.expect_err("it has ended");
    assert!(next.to_string().contains("has ended here"), "{next}");
    assert!(two.played.received().is_empty());
}

#[tokio::test]
async fn who_was_overtaken_does_not_end_a_run() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    two.attach(2, Epoch(2)).await.expect("it runs");
    let tip = stage.tip();

    let late = one.conclude(Epoch(1)).await;

    let expected = SessionHostError::Fenced {
        asked: Epoch(1),
        latest: Epoch(2),
    };
    assert_eq!(late, Err(expected));
    assert_eq!(stage.tip(), tip);
}

#[tokio::test]
async fn a_run_that_has_not_begun_gets_no_branch_for_its_end() {
    let stage = Stage::new();
    let one = stage.host("one");
    let epoch = one.claim().await;
    let names = stage.names();

    one.conclude(epoch).await.expect("it needs no end");

    assert_eq!(stage.names(), names);
}
