//! What agents commit in a project that travels.

use std::fs;

use autonoe_core::Epoch;

use crate::setting::{Host, Stage, git};

fn commit(host: &Host, file: &str) -> String {
    host.write(file, "committed\n");
    let folder = host.file("");
    git(&folder, &["add", file]);
    git(
        &folder,
        &["commit", "--quiet", "-m", &format!("Add {file}")],
    );
    git(&folder, &["rev-parse", "HEAD"])
}

fn log(host: &Host) -> String {
    git(&host.file(""), &["log", "--format=%s"])
}

#[tokio::test]
async fn an_agent_finds_the_commits_and_the_changes_of_the_one_before() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    commit(&one, "b.txt");
    one.write("a.txt", "changed\n");
    one.attach(2, Epoch(1)).await.expect("it runs");
    let status = git(&one.file(""), &["status", "--porcelain"]);
    assert!(status.contains("M a.txt"), "{status}");

    two.attach(3, Epoch(2)).await.expect("it runs");

    assert_eq!(log(&two), "Add b.txt\nfirst");
    let there = git(&two.file(""), &["status", "--porcelain"]);
    assert_eq!(there, format!("{status}\n?? session-3.txt"));
    // And goes on.
    let made = commit(&two, "c.txt");
    two.attach(4, Epoch(2)).await.expect("it runs");
    one.attach(5, Epoch(3)).await.expect("it runs");
    assert_eq!(log(&one), "Add c.txt\nAdd b.txt\nfirst");
    assert_eq!(git(&one.file(""), &["rev-parse", "HEAD"]), made);
    stage.on_remote(&["merge-base", "--is-ancestor", &made, "autonoe/shop"]);
    stage.on_remote(&["fsck", "--strict"]);
}

#[tokio::test]
async fn history_that_an_agent_wrote_anew_takes_nothing_from_the_branch() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let before = commit(&one, "b.txt");
    one.attach(2, Epoch(1)).await.expect("it runs");
    let folder = one.file("");
    git(&folder, &["commit", "--quiet", "--amend", "-m", "Again"]);

    one.attach(3, Epoch(1)).await.expect("it runs");
    two.attach(4, Epoch(2)).await.expect("it runs");

    assert_eq!(log(&two), "Again\nfirst");
    stage.on_remote(&["merge-base", "--is-ancestor", &before, "autonoe/shop"]);
}

#[tokio::test]
async fn commits_that_were_not_published_are_kept() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let made = commit(&one, "b.txt");
    two.attach(2, Epoch(2)).await.expect("it runs");

    one.travels().arrive().await.expect("it arrives");

    assert_eq!(log(&one), "first");
    let kept = one.travels().kept().await.expect("it is listed");
    let courier = stage.path("one/courier.git");
    git(
        &courier,
        &["merge-base", "--is-ancestor", &made, &kept[0].name],
    );
}

#[tokio::test]
async fn a_repository_that_an_agent_broke_is_no_obstacle() {
    let stage = Stage::new();
    let (one, two) = (stage.host("one"), stage.host("two"));
    for (number, what) in (1..).zip(["gone", "broken", "empty", "new"]) {
        one.attach(number, Epoch(1)).await.expect("it runs");
        let dir = one.file(".git");
        match what {
            "gone" => fs::remove_dir_all(&dir).expect("it is there"),
            "broken" => one.write(".git/HEAD", "nonsense"),
            "empty" => {
                let _ = fs::remove_dir_all(&dir);
                git(&one.file(""), &["init", "--quiet"]);
            }
            _ => {
                commit(&one, "new.txt");
            }
        }

        let published = one.travels().publish(Epoch(1), None).await;

        published.unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    two.attach(9, Epoch(2)).await.expect("it runs");
    assert_eq!(log(&two), "Add new.txt");
}
