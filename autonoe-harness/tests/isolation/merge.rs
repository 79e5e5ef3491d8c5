//! Tests of merging worktrees into their base.

use std::cell::Cell;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use autonoe_harness::Worktrees;
use autonoe_harness::executor::Verification;
use autonoe_harness::isolation::IsolationError;
use autonoe_process::{ProcessRunner, find_program};

use crate::isolation::fixture::{PATH, Repo, author, git, pass};

#[tokio::test]
async fn work_is_checked_with_the_newest_base_and_then_merged() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("committed");
    repo.write("c.txt", "of others\n");
    repo.commit("Add c");
    repo.write("mine.txt", "not committed\n");

    let merged = worktree
        .merge_if(&author(), |folder| async move {
            let all = ["a.txt", "b.txt", "c.txt"].iter();
            if all.clone().all(|file| folder.join(file).exists()) {
                Verification::passed("all is there")
            } else {
                Verification::failed("something is missing")
            }
        })
        .await
        .expect("it is merged");

    assert_eq!(repo.git(&["rev-parse", "main"]), merged.commit);
    assert_eq!(
        merged.into.as_deref(),
        Some(repo.path().canonicalize().expect("a path").as_path())
    );
    assert_eq!(
        fs::read_to_string(repo.path().join("b.txt")).expect("a file"),
        "new\n"
    );
    assert_eq!(repo.git(&["status", "--porcelain"]), "?? mine.txt");
    worktree.remove().await.expect("nothing is lost");
    assert_eq!(repo.branches(), ["main"]);
    assert!(!worktree.folder().exists());
    repo.is_clean();
}

#[tokio::test]
async fn a_failed_check_keeps_branch_and_worktree_and_names_them() {
    for verification in [
        Verification::failed("red"),
        Verification::unverified("the checks did not run"),
    ] {
        let repo = Repo::new();
        let before = repo.git(&["rev-parse", "main"]);
        let worktree = repo.worktree("one").await;
        fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
        worktree
            .commit_all(&author(), "Add b")
            .await
            .expect("committed");

        let error = worktree
            .merge_if(&author(), |_| std::future::ready(verification.clone()))
            .await
            .expect_err("it is not checked");

        assert!(
            matches!(error, IsolationError::ChecksFailed { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("autonoe/fleet/one"), "{error}");
        assert_eq!(repo.git(&["rev-parse", "main"]), before);
        assert!(worktree.folder().join("b.txt").exists());
        let error = worktree.remove().await.expect_err("it has work");
        assert!(matches!(error, IsolationError::Unmerged { .. }), "{error}");
    }
}

#[tokio::test]
async fn a_conflict_keeps_both_sides() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("a.txt"), "one\nagent\nthree\n").expect("a file");
    let work = worktree
        .commit_all(&author(), "Change a")
        .await
        .expect("committed");
    repo.write("a.txt", "one\nperson\nthree\n");
    let base = repo.commit("Change a, too");

    let error = worktree
        .merge_if(&author(), pass)
        .await
        .expect_err("a conflict");

    assert!(
        matches!(&error, IsolationError::Conflict { files, .. } if files == "a.txt"),
        "{error}"
    );
    assert_eq!(repo.git(&["rev-parse", "main"]), base);
    assert_eq!(repo.git(&["rev-parse", "autonoe/fleet/one"]), work);
    assert_eq!(git(worktree.folder(), &["status", "--porcelain"]), "");
}

#[tokio::test]
async fn work_that_is_not_committed_is_not_merged() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");

    let error = worktree
        .merge_if(&author(), pass)
        .await
        .expect_err("not committed");

    assert!(
        matches!(error, IsolationError::Uncommitted { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn merge_does_not_overwrite_user_files() {
    // Changed, untracked, ignored.
    for (file, own) in [
        ("a.txt", "mine\n"),
        ("b.txt", "mine\n"),
        ("c.log", "mine\n"),
    ] {
        let repo = Repo::new();
        let before = repo.git(&["rev-parse", "main"]);
        let worktree = repo.worktree("one").await;
        fs::write(worktree.folder().join(file), "of the agent\n").expect("a file");
        git(worktree.folder(), &["add", "--force", file]);
        worktree
            .commit_all(&author(), "Work")
            .await
            .expect("committed");
        repo.write(file, own);

        let error = worktree
            .merge_if(&author(), pass)
            .await
            .expect_err("it collides");

        assert!(
            matches!(error, IsolationError::WouldOverwrite { .. }),
            "{file}: {error}"
        );
        assert_eq!(
            fs::read_to_string(repo.path().join(file)).expect("a file"),
            own
        );
        assert_eq!(repo.git(&["rev-parse", "main"]), before);
        assert!(worktree.folder().join(file).exists());

        fs::remove_file(repo.path().join(file)).expect("a file");
        repo.git(&["checkout", "--", "."]);
        worktree
            .merge_if(&author(), pass)
            .await
            .expect("the way is free");
    }
}

#[tokio::test]
async fn a_base_without_a_checkout_is_moved_alone() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("committed");
    repo.git(&["checkout", "--quiet", "-b", "other"]);

    let merged = worktree
        .merge_if(&author(), pass)
        .await
        .expect("it is merged");

    assert_eq!(merged.into, None);
    assert_eq!(repo.git(&["rev-parse", "main"]), merged.commit);
    assert!(!repo.path().join("b.txt").exists());
}

#[tokio::test]
async fn a_base_that_moves_during_the_checks_is_merged_and_checked_again() {
    for (moves, merges) in [(1, true), (99, false)] {
        let repo = Repo::new();
        let worktree = repo.worktree("one").await;
        fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
        worktree
            .commit_all(&author(), "Add b")
            .await
            .expect("committed");
        let checks = Cell::new(0);

        let merged = worktree
            .merge_if(&author(), |_| {
                checks.set(checks.get() + 1);
                if checks.get() <= moves {
                    repo.write("c.txt", &format!("{}\n", checks.get()));
                    repo.commit("meanwhile");
                }
                pass(repo.path())
            })
            .await;

        assert_eq!(merged.is_ok(), merges, "{merged:?}");
        match merged {
            Ok(_) => assert_eq!(checks.get(), 2),
            Err(error) => assert!(matches!(error, IsolationError::BaseMoves { .. }), "{error}"),
        }
        let all = ["a.txt", "c.txt"];
        assert!(all.iter().all(|file| repo.path().join(file).exists()));
        assert_eq!(repo.path().join("b.txt").exists(), merges);
        assert_eq!(repo.git(&["status", "--porcelain"]), "");
    }
}

#[tokio::test]
async fn work_whose_merge_is_cancelled_during_the_checks_is_not_merged() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    worktree
        .commit_all(&author(), "Work")
        .await
        .expect("committed");
    let before = repo.git(&["rev-parse", "main"]);
    let is_cancelled = AtomicBool::new(false);

    let checks = |_| async {
        is_cancelled.store(true, Ordering::SeqCst);
        Verification::passed("it was cancelled meanwhile")
    };
    let is_wanted = || !is_cancelled.load(Ordering::SeqCst);
    let merged = worktree.merge_while(&author(), is_wanted, checks).await;

    assert!(
        matches!(merged, Err(IsolationError::MergeCancelled { .. })),
        "{merged:?}"
    );
    assert_eq!(repo.git(&["rev-parse", "main"]), before);
    assert!(worktree.folder().join("b.txt").exists());
}

#[tokio::test]
async fn a_refused_merge_leaves_no_step_that_could_overwrite_later_work() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "of the agent\n").expect("a file");
    worktree
        .commit_all(&author(), "Work")
        .await
        .expect("committed");
    // A file of a person, not committed.
    repo.write("b.txt", "of a person\n");

    let merged = worktree.merge_if(&author(), pass).await;
    // The person continues, and writes the same text as the agent.
    repo.write("b.txt", "of the agent\n");
    repo.worktrees()
        .await
        .clean_up()
        .await
        .expect("it can be done");

    assert!(
        matches!(merged, Err(IsolationError::WouldOverwrite { .. })),
        "{merged:?}"
    );
    let text = fs::read_to_string(repo.path().join("b.txt")).expect("it is there");
    assert_eq!(text, "of the agent\n");
}

#[tokio::test]
async fn a_conflict_leaves_the_worktree_as_it_is() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("a.txt"), "of the agent\n").expect("a file");
    let at = worktree
        .commit_all(&author(), "Work")
        .await
        .expect("committed");
    repo.write("a.txt", "of a person\n");
    repo.commit("meanwhile");
    // Ignored, so it is not work of the agent, but must be kept.
    fs::write(worktree.folder().join("trace.log"), "kept\n").expect("a file");

    let merged = worktree.merge_if(&author(), pass).await;
    let folder = worktree.folder().to_owned();
    fs::write(folder.join("later.txt"), "later\n").expect("a file");
    drop(worktree);
    let reopened = repo.worktrees().await.open_existing("one").await;

    assert!(
        matches!(merged, Err(IsolationError::Conflict { .. })),
        "{merged:?}"
    );
    reopened.expect("it is free").expect("it is there");
    assert_eq!(git(&folder, &["rev-parse", "HEAD"]), at);
    let text = fs::read_to_string(folder.join("a.txt")).expect("it is there");
    assert_eq!(text, "of the agent\n");
    for name in ["later.txt", "trace.log"] {
        assert!(folder.join(name).exists(), "{name}");
    }
}

/// A `git` that fails once, at the call with this number.
fn failing_git(repo: &Repo, number: usize) -> ProcessRunner {
    let folder = repo.path().with_file_name("bin");
    fs::create_dir_all(&folder).expect("a folder");
    let real = find_program("git", OsStr::new(PATH)).expect("git");
    let count = folder.join("count");
    let script = format!(
        "#!/bin/sh\necho x >>'{count}'\n[ $(wc -l <'{count}') = {number} ] && exit 128\nexec '{real}' \"$@\"\n",
        count = count.display(),
        real = real.display(),
    );
    fs::write(folder.join("git"), script).expect("a file");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.join("git"), executable).expect("ours");
    ProcessRunner::unconfined("/").env("PATH", format!("{}:{PATH}", folder.display()))
}

#[tokio::test]
async fn a_git_failure_during_a_merge_loses_no_later_work() {
    for number in (1..).step_by(2) {
        let repo = Repo::new();
        let worktree = repo.worktree("one").await;
        let folder = worktree.folder().to_owned();
        fs::write(folder.join("b.txt"), "new\n").expect("a file");
        worktree
            .commit_all(&author(), "Work")
            .await
            .expect("committed");
        drop(worktree);
        repo.write("c.txt", "meanwhile\n");
        repo.commit("meanwhile");
        let commands = failing_git(&repo, 0);
        let opened = Worktrees::open(&repo.path(), &repo.trees(), "fleet", commands).await;
        let reopened = opened.expect("a repository").open_existing("one").await;
        let worktree = reopened.expect("it is ours").expect("it is there");
        fs::remove_file(repo.path().with_file_name("bin").join("count")).expect("it was used");
        failing_git(&repo, number);

        let merged = worktree.merge_if(&author(), pass).await;
        let calls = fs::read_to_string(repo.path().with_file_name("bin").join("count"));
        if calls.expect("it was used").lines().count() < number {
            merged.expect("nothing failed");
            return;
        }
        fs::write(folder.join("later.txt"), "later\n").expect("a file");
        fs::write(folder.join("a.txt"), "later\n").expect("a file");
        drop(worktree);
        let reopened = repo.worktrees().await.open_existing("one").await;

        reopened.expect("it is free").expect("it is there");
        for name in ["later.txt", "a.txt"] {
            let text = fs::read_to_string(folder.join(name));
            assert_eq!(text.expect("it is there"), "later\n", "{name}, {number}");
        }
    }
}

#[tokio::test]
async fn concurrent_merges_are_checked_once_each() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    let mut done = Vec::new();
    for name in ["a", "b", "c", "d", "e", "f", "g"] {
        let worktree = worktrees.create(name, "main").await.expect("it is made");
        fs::write(worktree.folder().join(name), "new\n").expect("a file");
        worktree
            .commit_all(&author(), name)
            .await
            .expect("committed");
        done.push(worktree);
    }
    let checked = AtomicUsize::new(0);
    let author = author();

    let merges = done.iter().map(|worktree| {
        worktree.merge_if(&author, |_| async {
            checked.fetch_add(1, Ordering::SeqCst);
            tokio::task::yield_now().await;
            Verification::passed("it is checked")
        })
    });
    let merged = futures::future::join_all(merges).await;

    for merged in merged {
        merged.expect("one after the other");
    }
    assert_eq!(checked.load(Ordering::SeqCst), done.len());
    let queues = fs::read_dir(repo.trees()).expect("a folder").flatten();
    let mut names = queues.map(|entry| entry.file_name());
    assert!(!names.any(|name| name.to_string_lossy().starts_with(".merge")));
}
