//! Work of others on the branch of a run.

use autonoe_core::{Epoch, Retry, SessionHostError};
use autonoe_harness::TravelError;

use crate::travel::setting::{BRANCH, Stage, recorded};

#[tokio::test]
async fn commits_of_others_are_kept_and_named() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let theirs = stage.somebody_pushes(BRANCH, "theirs.txt");

    one.write("b.txt", "new\n");
    let published = one.travels().publish(Epoch(1), None).await;
    let attached = one.attach(2, Epoch(1)).await;
    let elsewhere = two.attach(2, Epoch(2)).await;

    let error = published.expect_err("somebody was there");
    let TravelError::Foreign { branch, commit } = &error else {
        panic!("{error:?}");
    };
    assert_eq!((branch.as_str(), commit), (BRANCH, &theirs));
    for result in [attached, elsewhere] {
        let Err(SessionHostError::Failed { failure, .. }) = result else {
            panic!("{result:?}");
        };
        assert_eq!(
            (failure.code.as_str(), failure.retry),
            ("foreign_work", Retry::Useless)
        );
        assert!(failure.message.contains(&theirs), "{failure}");
    }
    assert_eq!(stage.tip(), theirs);
    assert_eq!(one.read("b.txt"), "new\n");
    assert!(two.played.received().is_empty());
}

#[tokio::test]
async fn a_host_that_was_overtaken_is_told_so_also_if_others_have_pushed_on_top() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    two.attach(2, Epoch(2)).await.expect("it runs");
    stage.somebody_pushes(BRANCH, "theirs.txt");

    let attached = one.attach(3, Epoch(1)).await;

    let (asked, latest) = (Epoch(1), Epoch(2));
    assert_eq!(attached, Err(SessionHostError::Fenced { asked, latest }));
}

#[tokio::test]
async fn a_branch_that_somebody_took_away_or_set_back_is_not_made_again() {
    for set_back in ["delete", "to the claim"] {
        let stage = Stage::new();
        let one = stage.host("one");
        one.attach(1, Epoch(1)).await.expect("it runs");
        let name = format!("refs/heads/{BRANCH}");
        match set_back {
            "delete" => stage.on_remote(&["update-ref", "-d", &name]),
            _ => stage.on_remote(&["update-ref", &name, &format!("{BRANCH}~1")]),
        };
        let before = stage.names();

        let attached = one.attach(2, Epoch(2)).await;

        let Err(SessionHostError::Failed { failure, .. }) = attached else {
            panic!("{attached:?}");
        };
        assert_eq!(failure.code, "branch_set_back", "{set_back}: {failure}");
        assert_eq!((stage.names(), recorded(&one)), (before, vec![1]));
    }
}

#[tokio::test]
async fn the_base_may_go_on() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let base = stage.somebody_pushes("main", "base.txt");

    two.attach(2, Epoch(2)).await.expect("it runs");
    one.attach(3, Epoch(3)).await.expect("it runs");

    assert_eq!(stage.on_remote(&["rev-parse", "main"]), base);
    assert_eq!(one.read("base.txt"), "");
    assert_eq!(recorded(&one), [1, 2, 3]);
}
