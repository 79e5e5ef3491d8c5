//! Tests of removing worktrees, and of discarding what is left of a fleet.

use std::fs;

use autonoe_harness::isolation::IsolationError;

use super::fixture::{Repo, author};

#[tokio::test]
async fn work_is_not_removed_unless_it_may_be_discarded() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");

    for error in [worktree.remove().await, worktree.remove_folder_only().await] {
        let error = error.expect_err("not committed");
        assert!(
            matches!(error, IsolationError::Uncommitted { .. }),
            "{error}"
        );
    }
    worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("committed");
    let error = worktree.remove().await.expect_err("not merged");
    assert!(matches!(error, IsolationError::Unmerged { .. }), "{error}");
    assert!(worktree.folder().join("b.txt").exists());

    worktree.discard().await.expect("it may be");

    assert!(!worktree.folder().exists());
    assert_eq!(repo.branches(), ["main"]);
    repo.is_clean();
}

#[tokio::test]
async fn work_stays_on_its_branch_when_the_folder_is_removed() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    let commit = worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("committed");

    worktree
        .remove_folder_only()
        .await
        .expect("all is on the branch");

    assert!(!worktree.folder().exists());
    assert_eq!(repo.git(&["rev-parse", "autonoe/fleet/one"]), commit);
    repo.is_clean();
}

#[tokio::test]
async fn a_claimed_worktree_is_not_cleaned_up() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;

    let swept = repo.worktrees().await.clean_up().await.expect("it works");

    assert!(
        swept.removed.is_empty() && swept.retained.is_empty(),
        "{swept:?}"
    );
    assert!(worktree.folder().exists());
    let place = worktree.location();
    drop(worktree);
    let reopened = repo
        .worktrees()
        .await
        .open_existing("one")
        .await
        .expect("it is free");
    assert_eq!(reopened.expect("it is there").location(), place);
    let none = repo
        .worktrees()
        .await
        .open_existing("two")
        .await
        .expect("it works");
    assert!(none.is_none());
}

#[tokio::test]
async fn a_worktree_whose_folder_is_gone_leaves_its_branch() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    let commit = worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("committed");
    fs::remove_dir_all(worktree.folder()).expect("it is removable");

    let swept = repo.worktrees().await.clean_up().await.expect("it works");

    assert_eq!(swept.removed, [worktree.location()]);
    assert_eq!(repo.git(&["rev-parse", "autonoe/fleet/one"]), commit);
    repo.is_clean();
}

#[tokio::test]
async fn clean_up_removes_stale_git_locks() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    let lock = repo.path().join(".git/packed-refs.lock");
    fs::write(&lock, "").expect("a commit was interrupted");
    let own = repo.path().join(".git/worktrees/one/AUTO_MERGE.lock");
    fs::write(&own, "").expect("and it forgot what was merged");
    let place = worktree.location();
    drop(worktree);

    let swept = repo.worktrees().await.clean_up().await.expect("it works");

    assert_eq!(swept.removed, [place], "{swept:?}");
    assert!(!lock.exists());
    repo.is_clean();
}

#[tokio::test]
async fn everything_left_of_a_fleet_is_found_and_discarded() {
    let repo = Repo::new();
    let trees = repo.worktrees().await;
    let loser = repo.worktree("loser").await;
    fs::write(loser.folder().join("new.txt"), "not committed\n").expect("a file");
    let branch_only = repo.worktree("loser.T-1.way-1").await;
    branch_only
        .remove_folder_only()
        .await
        .expect("all is committed");
    repo.git(&["branch", "autonoe/other/one"]);
    drop((loser, branch_only));

    let left = trees.remaining().await.expect("a list");
    for name in &left {
        assert!(trees.discard(name).await.expect("it goes"), "{name}");
    }

    assert_eq!(left, ["loser", "loser.T-1.way-1"]);
    assert_eq!(
        trees.remaining().await.expect("a list"),
        Vec::<String>::new()
    );
    assert!(!trees.discard("loser").await.expect("nothing is there"));
    assert_eq!(repo.branches(), ["autonoe/other/one", "main"]);
    repo.is_clean();
}
