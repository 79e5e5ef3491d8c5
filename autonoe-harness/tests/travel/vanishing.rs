//! A remote that vanishes in the middle of a session.

use std::fs;

use autonoe_core::{Epoch, Failure, HostedOutcome, Retry, SessionHostError};
use autonoe_testkit::SessionScript;

use crate::travel::setting::{Host, Stage, git, recorded};

/// A host in whose second session the remote is moved away, after the agent has begun to work.
fn host(stage: &Stage, name: &str) -> Host {
    let (here, away) = (stage.remote(), stage.path("away.git"));
    let vanishes = SessionScript::new("the remote vanishes")
        .says("I begin.")
        .does(move |project| {
            fs::write(project.join("half.txt"), "half\n").expect("a file");
            fs::rename(&here, &away).expect("it is there");
        })
        .says("Done.")
        .ends();
    let plain = |name: &str| SessionScript::new(name).says("Done.").ends();
    Host::with(
        stage.travels(name),
        [plain("first"), vanishes, plain("third")],
    )
}

fn comes_back(stage: &Stage) {
    fs::rename(stage.path("away.git"), stage.remote()).expect("it is away");
}

fn failure(attached: Result<HostedOutcome, SessionHostError>) -> Failure {
    match attached {
        Err(SessionHostError::Failed { failure, .. }) => failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_whose_remote_comes_back_is_told_and_did_not_run_again() {
    let stage = Stage::new();
    let (one, two) = (host(&stage, "one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");

    // For as long as it is away nothing is told, and nothing runs again.
    for _ in 0..2 {
        let failure = failure(one.attach(2, Epoch(1)).await);
        assert_eq!(failure.code, "remote_away");
        assert_eq!(failure.retry, Retry::MayHelp);
        assert_eq!(recorded(&one), [1, 2]);
        assert_eq!(one.read("half.txt"), "half\n");
    }
    comes_back(&stage);
    let told = one.attach(2, Epoch(1)).await.expect("it is recorded");

    assert!(told.result.end.is_completed());
    assert_eq!((told.lost, one.played.received().len()), (0, 2));
    assert_eq!(stage.published("half.txt"), "half");
    // Whoever takes over finds it.
    let epoch = two.claim().await;
    let again = two.attach(2, epoch).await.expect("it is recorded");
    assert_eq!(again.result, told.result);
    assert!(two.played.received().is_empty());
    assert_eq!(recorded(&two), [1, 2]);
}

#[tokio::test]
async fn a_session_that_another_host_ran_meanwhile_counts_there_and_what_was_here_is_kept() {
    let stage = Stage::new();
    let (one, two) = (host(&stage, "one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    failure(one.attach(2, Epoch(1)).await);
    comes_back(&stage);
    let epoch = two.claim().await;
    two.attach(2, epoch).await.expect("it runs");

    let late = one.attach(2, Epoch(1)).await;

    let fenced = SessionHostError::Fenced {
        asked: Epoch(1),
        latest: epoch,
    };
    assert_eq!(late, Err(fenced));
    let epoch = one.claim().await;
    one.attach(3, epoch).await.expect("it runs");
    assert_eq!(recorded(&one), [1, 2, 3]);
    assert_eq!(one.played.received().len(), 3);
    let kept = one.travels().kept().await.expect("it is listed");
    let [kept] = &kept[..] else {
        panic!("{kept:?}");
    };
    let show = format!("{}:half.txt", kept.name);
    let courier = stage.path("one/courier.git");
    assert_eq!(git(&courier, &["show", &show]), "half");
}

#[tokio::test]
async fn a_remote_in_whose_place_is_another_one_is_no_place_to_publish() {
    let stage = Stage::new();
    let one = host(&stage, "one");
    one.attach(1, Epoch(1)).await.expect("it runs");
    failure(one.attach(2, Epoch(1)).await);
    let seed = stage.path("seed");
    let clone = ["clone", "--quiet", "--bare", ".", "../remote.git"];
    git(&seed, &clone);
    let before = stage.names();

    let failure = failure(one.attach(2, Epoch(1)).await);

    assert_eq!(
        (failure.code.as_str(), failure.retry),
        ("branch_set_back", Retry::Useless)
    );
    assert_eq!(stage.names(), before);
    assert_eq!(recorded(&one), [1, 2]);
    assert_eq!(one.read("half.txt"), "half\n");
}
