//! Tests of foreign commits on the branch of a run.

use autonoe_core::engine::SessionHostError;
use autonoe_core::event::Retry;
use autonoe_core::time::Epoch;
use autonoe_git_sync::SyncError;

use crate::fixture::{BRANCH, Fixture, recorded};

#[tokio::test]
async fn commits_of_others_are_kept_and_named() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let foreign = fixture.push_foreign_commit(BRANCH, "theirs.txt");

    one.write("b.txt", "new\n");
    let published = one.synced_project().publish(Epoch(1), None).await;
    let attached = one.attach(2, Epoch(1)).await;
    let other_host = two.attach(2, Epoch(2)).await;

    let error = published.expect_err("somebody was there");
    let SyncError::Foreign { branch, commit } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((branch.as_str(), commit), (BRANCH, &foreign));
    for result in [attached, other_host] {
        let Err(SessionHostError::Failed { failure, .. }) = result else {
            panic!("{result:?}");
        };
        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("foreign_work", Retry::Permanent)
        );
        assert!(failure.message.contains(&foreign), "{failure}");
    }
    assert_eq!(fixture.tip(), foreign);
    assert_eq!(one.read("b.txt"), "new\n");
    assert!(two.played.received().is_empty());
}

#[tokio::test]
async fn an_overtaken_host_is_fenced_even_below_foreign_commits() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    two.attach(2, Epoch(2)).await.expect("it runs");
    fixture.push_foreign_commit(BRANCH, "theirs.txt");

    let attached = one.attach(3, Epoch(1)).await;

    let (requested, latest) = (Epoch(1), Epoch(2));
    assert_eq!(
        attached,
        Err(SessionHostError::Fenced { requested, latest })
    );
}

#[tokio::test]
async fn a_deleted_or_reset_branch_is_not_recreated() {
    for set_back in ["delete", "to the claim"] {
        let fixture = Fixture::new();
        let one = fixture.host("one");
        one.attach(1, Epoch(1)).await.expect("it runs");
        let name = format!("refs/heads/{BRANCH}");
        match set_back {
            "delete" => fixture.on_remote(&["update-ref", "-d", &name]),
            _ => fixture.on_remote(&["update-ref", &name, &format!("{BRANCH}~1")]),
        };
        let before = fixture.names();

        let attached = one.attach(2, Epoch(2)).await;

        let Err(SessionHostError::Failed { failure, .. }) = attached else {
            panic!("{attached:?}");
        };
        assert_eq!(failure.code, "branch_set_back", "{set_back}: {failure}");
        assert_eq!((fixture.names(), recorded(&one)), (before, vec![1]));
    }
}

#[tokio::test]
async fn the_base_may_advance() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let base = fixture.push_foreign_commit("main", "base.txt");

    two.attach(2, Epoch(2)).await.expect("it runs");
    one.attach(3, Epoch(3)).await.expect("it runs");

    assert_eq!(fixture.on_remote(&["rev-parse", "main"]), base);
    assert_eq!(one.read("base.txt"), "");
    assert_eq!(recorded(&one), [1, 2, 3]);
}
