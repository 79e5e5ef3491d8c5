//! Tests of a remote that becomes unreachable during a session.

use std::fs;

use autonoe_core::engine::{HostedOutcome, SessionHostError};
use autonoe_core::event::{Failure, Retry};
use autonoe_core::time::Epoch;
use autonoe_testkit::SessionScript;

use crate::fixture::{Fixture, Host, git, recorded};

/// A host in whose second session the remote is moved away, after the agent has started to work.
fn host(fixture: &Fixture, name: &str) -> Host {
    let (here, moved) = (fixture.remote(), fixture.path("away.git"));
    let vanishes = SessionScript::new("the remote vanishes")
        .says("I begin.")
        .performs(move |project| {
            fs::write(project.join("half.txt"), "half\n").expect("a file");
            fs::rename(&here, &moved).expect("it is there");
        })
        .says("Done.")
        .ends();
    let plain = |name: &str| SessionScript::new(name).says("Done.").ends();
    Host::with(
        fixture.synced_project(name),
        [plain("first"), vanishes, plain("third")],
    )
}

fn restore_remote(fixture: &Fixture) {
    fs::rename(fixture.path("away.git"), fixture.remote()).expect("it is away");
}

fn failure(attached: Result<HostedOutcome, SessionHostError>) -> Failure {
    match attached {
        Err(SessionHostError::Failed { failure, .. }) => failure,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn session_is_reported_once_its_remote_returns_and_is_not_repeated() {
    let fixture = Fixture::new();
    let (one, two) = (host(&fixture, "one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");

    // While the remote is unreachable, no outcome is reported, and nothing runs again.
    for _ in 0..2 {
        let failure = failure(one.attach(2, Epoch(1)).await);
        assert_eq!(failure.code, "remote_away");
        assert_eq!(failure.retry, Retry::Retryable);
        assert_eq!(recorded(&one), [1, 2]);
        assert_eq!(one.read("half.txt"), "half\n");
    }
    restore_remote(&fixture);
    let outcome = one.attach(2, Epoch(1)).await.expect("it is recorded");

    assert!(outcome.result.end.is_completed());
    assert_eq!((outcome.lost, one.played.received().len()), (0, 2));
    assert_eq!(fixture.published("half.txt"), "half");
    // The next host finds it.
    let epoch = two.claim().await;
    let repeated = two.attach(2, epoch).await.expect("it is recorded");
    assert_eq!(repeated.result, outcome.result);
    assert!(two.played.received().is_empty());
    assert_eq!(recorded(&two), [1, 2]);
}

#[tokio::test]
async fn a_session_that_another_host_repeated_counts_there_and_the_local_work_is_kept() {
    let fixture = Fixture::new();
    let (one, two) = (host(&fixture, "one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    failure(one.attach(2, Epoch(1)).await);
    restore_remote(&fixture);
    let epoch = two.claim().await;
    two.attach(2, epoch).await.expect("it runs");

    let late = one.attach(2, Epoch(1)).await;

    let fenced = SessionHostError::Fenced {
        requested: Epoch(1),
        latest: epoch,
    };
    assert_eq!(late, Err(fenced));
    let epoch = one.claim().await;
    one.attach(3, epoch).await.expect("it runs");
    assert_eq!(recorded(&one), [1, 2, 3]);
    assert_eq!(one.played.received().len(), 3);
    let saved = fixture.unpublished_work("one");
    let [saved] = &saved[..] else {
        panic!("{saved:?}");
    };
    let show = format!("{saved}:half.txt");
    let sync_dir = fixture.path("one/sync.git");
    assert_eq!(git(&sync_dir, &["show", &show]), "half");
}

#[tokio::test]
async fn replaced_remote_is_not_published_to() {
    let fixture = Fixture::new();
    let one = host(&fixture, "one");
    one.attach(1, Epoch(1)).await.expect("it runs");
    failure(one.attach(2, Epoch(1)).await);
    let seed = fixture.path("seed");
    let clone = ["clone", "--quiet", "--bare", ".", "../remote.git"];
    git(&seed, &clone);
    let before = fixture.names();

    let failure = failure(one.attach(2, Epoch(1)).await);

    assert_eq!(
        (failure.code.as_str(), failure.retry),
        ("branch_set_back", Retry::Permanent)
    );
    assert_eq!(fixture.names(), before);
    assert_eq!(recorded(&one), [1, 2]);
    assert_eq!(one.read("half.txt"), "half\n");
}
