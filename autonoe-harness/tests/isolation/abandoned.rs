//! Tests of worktrees and interrupted steps left by earlier owners.

use std::fs;
use std::process::Command;

use autonoe_harness::Worktrees;
use autonoe_harness::isolation::IsolationError;
use serde_json::json;

use crate::isolation::fixture::{Repo, author, commands, git, pass};

#[tokio::test]
async fn a_claimed_worktree_cannot_be_opened_even_in_this_process() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    let worktree = worktrees.create("one", "main").await.expect("it is made");

    let second = worktrees.open_existing("one").await;
    drop(worktree);
    let third = worktrees.open_existing("one").await;

    assert!(
        matches!(second, Err(IsolationError::InUse { .. })),
        "{second:?}"
    );
    third.expect("it is free").expect("it is there");
}

#[tokio::test]
async fn a_worktree_that_was_dropped_during_a_commit_can_be_resumed() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    let worktree = worktrees.create("one", "main").await.expect("it is made");
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    drop(worktree);
    let lock = repo.path().join(".git/worktrees/one/index.lock");
    fs::write(&lock, "").expect("a lock without an owner");

    let opened = worktrees.open_existing("one").await.expect("it is free");
    let finished = opened
        .expect("it is there")
        .commit_all(&author(), "Work")
        .await;

    finished.expect("committed");
}

#[tokio::test]
async fn a_worktree_that_was_moved_with_its_repository_can_be_resumed() {
    for is_copied in [false, true] {
        let repo = Repo::new();
        let worktree = repo.worktree("one").await;
        fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
        drop(worktree);
        let all = repo.path().parent().expect("a folder").to_owned();
        let new_place = tempfile::tempdir().expect("a folder");
        for name in ["repo", "trees"] {
            let (from, to) = (all.join(name), new_place.path().join(name));
            let copied = Command::new("cp").arg("-a").arg(&from).arg(&to).status();
            assert!(copied.expect("it starts").success());
            if !is_copied {
                fs::remove_dir_all(from).expect("ours");
            }
        }
        let (moved, trees) = (
            new_place.path().join("repo"),
            new_place.path().join("trees"),
        );
        let worktrees = Worktrees::open(&moved, &trees, "fleet", commands()).await;
        let worktrees = worktrees.expect("a repository");

        let opened = worktrees.open_existing("one").await.expect("it is free");
        let opened = opened.expect("it is there");
        opened
            .commit_all(&author(), "Work")
            .await
            .expect("committed");
        opened.merge_if(&author(), pass).await.expect("merged");
        opened.remove().await.expect("merged");

        assert!(moved.join("b.txt").exists());
        git(&moved, &["fsck", "--strict", "--no-dangling"]);
        assert_eq!(git(&moved, &["worktree", "list"]).lines().count(), 1);
        if is_copied {
            let first = repo.worktrees().await.open_existing("one").await;
            first.expect("it is free").expect("it is its own");
        }
    }
}

#[tokio::test]
async fn a_worktree_that_names_another_entry_is_not_followed() {
    let repo = Repo::new();
    let folder = repo.worktree("one").await.folder().to_owned();
    let admin = repo.path().join(".git/worktrees/one");
    fs::write(admin.join("gitdir"), "/nowhere/one/.git\n").expect("writable");
    fs::write(folder.join(".git"), "gitdir: /nowhere/another\n").expect("writable");

    let opened = repo.worktrees().await.open_existing("one").await;

    assert!(opened.expect("git answers").is_none());
    let link = fs::read_to_string(folder.join(".git")).expect("there");
    assert_eq!(link, "gitdir: /nowhere/another\n");
}

#[tokio::test]
async fn a_worktree_of_another_run_is_not_opened() {
    let repo = Repo::new();
    let first = repo.worktrees().await.for_run("first");
    drop(first.create("one", "main").await.expect("it is made"));

    let by_second = repo
        .worktrees()
        .await
        .for_run("second")
        .open_existing("one")
        .await;
    let by_first = first
        .open_existing("one")
        .await
        .map(|found| found.is_some());
    let by_anybody = repo.worktrees().await.open_existing("one").await;

    assert!(
        matches!(by_second, Err(IsolationError::Exists(_))),
        "{by_second:?}"
    );
    assert!(by_first.expect("it is its own"));
    by_anybody.expect("it is free").expect("it is there");
}

#[tokio::test]
async fn an_unreadable_step_is_quarantined_and_named() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    let step = repo.trees().join(".step.json");

    for text in ["", "{", r#"{"step":"fly"}"#] {
        fs::write(&step, text).expect("a file");
        worktrees.clean_up().await.expect("it disturbs no process");
    }
    worktrees.create("one", "main").await.expect("it is made");

    let swept = worktrees.clean_up().await.expect("git is there");
    assert_eq!(swept.quarantined.len(), 3);
    assert!(!step.exists());
    let quarantined = fs::read_to_string(&swept.quarantined[1]);
    assert_eq!(quarantined.expect("it is there"), "{");
}

#[tokio::test]
async fn a_step_that_points_elsewhere_removes_nothing() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    let precious = repo.path().with_file_name("precious");
    fs::create_dir(&precious).expect("a folder");
    let folder = repo.trees().join("fleet/../../precious");
    let step = json!({"step": "remove", "folder": folder, "branch": "x", "at": null});
    fs::create_dir_all(repo.trees().join("fleet")).expect("a folder");
    fs::write(repo.trees().join(".step.json"), step.to_string()).expect("a file");

    let swept = worktrees.clean_up().await.expect("it disturbs no process");

    assert!(precious.exists());
    assert_eq!(swept.quarantined.len(), 1);
}

#[tokio::test]
async fn an_interrupted_merge_into_a_missing_folder_blocks_nothing() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    let worktree = worktrees.create("one", "main").await.expect("it is made");
    let (folder, branch) = (worktree.folder().to_owned(), worktree.branch().to_owned());
    let at = repo.git(&["rev-parse", "main"]);
    worktree.discard().await.expect("it is not wanted");
    let step = json!({"step": "advance", "folder": folder, "base": branch, "from": at, "to": at});
    fs::write(repo.trees().join(".step.json"), step.to_string()).expect("a file");

    worktrees.create("one", "main").await.expect("it is made");

    let left = worktrees.clean_up().await.expect("git is there");
    assert!(left.quarantined.is_empty(), "{left:?}");
}

#[tokio::test]
async fn repair_does_not_overwrite_a_user_link() {
    let repo = Repo::new();
    let from = repo.git(&["rev-parse", "HEAD"]);
    fs::remove_file(repo.path().join("a.txt")).expect("ours");
    repo.write("b.txt", "new\n");
    let to = repo.commit("Replace a by b");
    git(&repo.path(), &["reset", "--quiet", "--hard", &from]);
    // Interrupted before anything was written; then a person created a link there.
    let step = json!({
        "step": "advance", "folder": repo.path().canonicalize().expect("there"),
        "base": "main", "from": from, "to": to,
    });
    let worktrees = repo.worktrees().await;
    fs::write(repo.trees().join(".step.json"), step.to_string()).expect("a file");
    fs::remove_file(repo.path().join("a.txt")).expect("ours");
    std::os::unix::fs::symlink("elsewhere", repo.path().join("a.txt")).expect("a link");

    worktrees.clean_up().await.expect("it is repaired");

    let link = fs::read_link(repo.path().join("a.txt"));
    assert_eq!(link.expect("it is a link").as_os_str(), "elsewhere");
}
