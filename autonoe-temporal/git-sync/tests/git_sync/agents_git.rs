//! Tests of commits that agents make in a synchronised project.

use std::fs;

use autonoe_core::time::Epoch;
use autonoe_testkit::program::names_in;

use crate::fixture::{Fixture, Host, git};

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
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
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
    // It continues from there.
    let created = commit(&two, "c.txt");
    two.attach(4, Epoch(2)).await.expect("it runs");
    one.attach(5, Epoch(3)).await.expect("it runs");
    assert_eq!(log(&one), "Add c.txt\nAdd b.txt\nfirst");
    assert_eq!(git(&one.file(""), &["rev-parse", "HEAD"]), created);
    fixture.on_remote(&["merge-base", "--is-ancestor", &created, "autonoe/shop"]);
    fixture.on_remote(&["fsck", "--strict"]);
}

#[tokio::test]
async fn rewritten_history_of_an_agent_removes_nothing_from_the_branch() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let before = commit(&one, "b.txt");
    one.attach(2, Epoch(1)).await.expect("it runs");
    let folder = one.file("");
    git(&folder, &["commit", "--quiet", "--amend", "-m", "Again"]);

    one.attach(3, Epoch(1)).await.expect("it runs");
    two.attach(4, Epoch(2)).await.expect("it runs");

    assert_eq!(log(&two), "Again\nfirst");
    fixture.on_remote(&["merge-base", "--is-ancestor", &before, "autonoe/shop"]);
}

#[tokio::test]
async fn commits_that_were_not_published_are_kept() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let created = commit(&one, "b.txt");
    two.attach(2, Epoch(2)).await.expect("it runs");

    one.synced_project().checkout().await.expect("it arrives");

    assert_eq!(log(&one), "first");
    let saved = fixture.unpublished_work("one");
    let sync_dir = fixture.path("one/sync.git");
    git(
        &sync_dir,
        &["merge-base", "--is-ancestor", &created, &saved[0]],
    );
}

#[tokio::test]
async fn a_repository_that_an_agent_broke_is_no_obstacle() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    for (number, case) in (1..).zip(["gone", "broken", "empty", "new"]) {
        one.attach(number, Epoch(1)).await.expect("it runs");
        let dir = one.file(".git");
        match case {
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

        let published = one.synced_project().publish(Epoch(1), None).await;

        published.unwrap_or_else(|error| panic!("{case}: {error}"));
    }
    two.attach(9, Epoch(2)).await.expect("it runs");
    assert_eq!(log(&two), "Add new.txt");
}

/// Returns the quarantined repositories of agents on a host.
fn quarantined(fixture: &Fixture, host: &str) -> Vec<String> {
    names_in(&fixture.path(host).join("repositories-of-agents"))
}

#[tokio::test]
async fn quarantined_repositories_are_deleted_and_their_unknown_commits_kept() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    let folder = one.file("");
    git(&folder, &["switch", "--quiet", "--create", "attempt"]);
    let attempt = commit(&one, "attempt.txt");
    git(&folder, &["switch", "--quiet", "autonoe/shop"]);
    one.write("a.txt", "stashed\n");
    git(&folder, &["stash", "--quiet"]);
    let stash = git(&folder, &["rev-parse", "refs/stash"]);
    one.attach(2, Epoch(1)).await.expect("it runs");

    for (number, epoch) in [(3, 2), (5, 4), (7, 6)] {
        two.attach(number, Epoch(epoch)).await.expect("it runs");
        let next = (number + 1, Epoch(epoch + 1));
        one.attach(next.0, next.1).await.expect("it runs");
        assert_eq!(quarantined(&fixture, "one"), [""; 0]);
    }

    let mut saved = fixture.unpublished_work("one");
    saved.sort();
    let mut expected = vec![attempt.clone(), stash.clone()];
    expected.sort();
    assert_eq!(saved, expected);
    let sync_dir = fixture.path("one/sync.git");
    let show = |file: String| git(&sync_dir, &["show", &file]);
    assert_eq!(show(format!("{attempt}:attempt.txt")), "committed");
    assert_eq!(show(format!("{stash}:a.txt")), "stashed");
    // No ref of the search is left.
    assert_eq!(
        git(&sync_dir, &["for-each-ref", "refs/git-sync/quarantine/"]),
        ""
    );
    git(&sync_dir, &["fsck", "--strict"]);
}

#[tokio::test]
async fn a_quarantined_repository_stays_if_it_is_unreadable_or_has_more_stashes() {
    let fixture = Fixture::new();
    let (one, two) = (fixture.host("one"), fixture.host("two"));
    one.attach(1, Epoch(1)).await.expect("it runs");
    for text in ["first\n", "second\n"] {
        one.write("a.txt", text);
        git(&one.file(""), &["stash", "--quiet"]);
    }
    two.attach(2, Epoch(2)).await.expect("it runs");
    one.attach(3, Epoch(3)).await.expect("it runs");
    assert_eq!(quarantined(&fixture, "one"), ["1"]);
    fs::remove_file(one.file(".git/config")).expect("it is there");
    two.attach(4, Epoch(4)).await.expect("it runs");

    one.attach(5, Epoch(5)).await.expect("it runs");

    assert_eq!(quarantined(&fixture, "one"), ["1", "2"]);
    let first = fixture.path("one/repositories-of-agents/1");
    assert_eq!(git(&first, &["show", "stash@{1}:a.txt"]), "first");
}

#[tokio::test]
async fn a_quarantined_repository_stays_if_a_ref_points_to_no_commit() {
    for tag in [
        &["tag", "-m", "words of its own", "done"][..],
        &["tag", "folder", "HEAD^{tree}"],
    ] {
        let fixture = Fixture::new();
        let (one, two) = (fixture.host("one"), fixture.host("two"));
        one.attach(1, Epoch(1)).await.expect("it runs");
        let named = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        git(&one.file(""), &[&named[..], tag].concat());
        two.attach(2, Epoch(2)).await.expect("it runs");

        one.attach(3, Epoch(3)).await.expect("it runs");

        assert_eq!(quarantined(&fixture, "one"), ["1"]);
        let sync_dir = fixture.path("one/sync.git");
        assert_eq!(
            git(&sync_dir, &["for-each-ref", "refs/git-sync/quarantine/"]),
            ""
        );
    }
}
