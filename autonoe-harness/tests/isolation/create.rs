//! Tests of creating worktrees and committing in them.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use autonoe_harness::Worktrees;
use autonoe_harness::executor::Verification;
use autonoe_harness::isolation::IsolationError;

use crate::isolation::fixture::{Repo, author, commands, git};

#[tokio::test]
async fn an_agent_works_on_a_branch_of_its_own() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;

    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    fs::write(worktree.folder().join("noise.log"), "x").expect("a file");
    let commit = worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("it is committed");

    assert_eq!(worktree.branch(), "autonoe/fleet/one");
    assert_eq!(repo.git(&["rev-parse", "autonoe/fleet/one"]), commit);
    let commit_text = repo.git(&["show", "--format=%an <%ae> %s", "--name-only", &commit]);
    assert_eq!(commit_text, "Agent <agent@example.org> Add b\n\nb.txt");
    assert!(!repo.path().join("b.txt").exists());
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
    // There is nothing more to commit.
    assert_eq!(
        worktree
            .commit_all(&author(), "Again")
            .await
            .expect("it works"),
        commit
    );
}

#[tokio::test]
async fn an_agent_of_a_project_inside_of_a_repository_works_in_its_folder() {
    let repo = Repo::new();
    let project = repo.path().join("apps/shop");
    fs::create_dir_all(&project).expect("a folder");
    let opened = Worktrees::open(&project, &repo.trees(), "fleet", commands()).await;
    let worktrees = opened.expect("it is in a repository");

    // Git has no file in that folder yet.
    let worktree = worktrees.create("one", "main").await.expect("it is made");
    assert_eq!(worktree.folder(), worktree.root().join("apps/shop"));
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("it is there");
    worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("it is committed");
    let mut checked = Vec::new();
    let merged = worktree
        .merge_if(&author(), |folder| {
            checked.push(folder);
            async { Verification::passed("it is good") }
        })
        .await;

    merged.expect("it is merged");
    assert_eq!(checked, [worktree.folder()]);
    assert_eq!(repo.git(&["ls-files", "apps"]), "apps/shop/b.txt");
    assert!(project.join("b.txt").exists());
    worktree.remove().await.expect("it is removed");
    assert!(!worktree.root().exists());
}

#[tokio::test]
async fn a_folder_of_a_project_that_points_elsewhere_is_refused() {
    let repo = Repo::new();
    repo.git(&["checkout", "--quiet", "-b", "linked"]);
    std::os::unix::fs::symlink("/tmp", repo.path().join("shop")).expect("a link");
    repo.commit("A link");
    repo.git(&["checkout", "--quiet", "main"]);
    let project = repo.path().join("shop");
    fs::create_dir(&project).expect("a folder");
    let opened = Worktrees::open(&project, &repo.trees(), "fleet", commands()).await;
    let worktrees = opened.expect("it is in a repository");

    let refused = worktrees.create("one", "linked").await;

    let error = refused.expect_err("the agent would not be isolated");
    assert!(
        matches!(error, IsolationError::RefusedFolder { .. }),
        "{error}"
    );
    assert_eq!(repo.branches(), ["linked", "main"]);
    repo.is_clean();
}

#[tokio::test]
async fn lesson_7_a_worktree_that_cannot_be_created_is_an_error_and_no_fallback() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    // A file is in place of the fleet's folder.
    fs::write(repo.trees().join("fleet"), "in the way").expect("a file");

    let error = worktrees
        .create("one", "main")
        .await
        .expect_err("it cannot be");

    assert!(matches!(error, IsolationError::Io { .. }), "{error}");
    assert_eq!(repo.branches(), ["main"]);
    assert_eq!(
        fs::read_to_string(repo.trees().join("fleet")).expect("a file"),
        "in the way"
    );
    repo.is_clean();
}

#[tokio::test]
async fn a_folder_that_is_no_repository_is_a_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let trees = folder.path().join("trees");

    for place in [folder.path().to_owned(), folder.path().join("missing")] {
        let error = Worktrees::open(&place, &trees, "fleet", commands()).await;

        let error = error.expect_err("there is none");
        assert!(
            matches!(&error, IsolationError::NoRepository { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("not in a git working tree"));
    }
    assert!(!trees.exists());
}

#[tokio::test]
async fn an_existing_worktree_or_branch_is_not_reused() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    repo.git(&["branch", "autonoe/fleet/branch"]);
    repo.worktree("one").await;

    for (name, base) in [("one", "main"), ("branch", "main")] {
        let error = worktrees.create(name, base).await.expect_err("it is there");
        assert!(matches!(error, IsolationError::Exists(_)), "{error}");
    }
    let error = worktrees
        .create("two", "nowhere")
        .await
        .expect_err("no base");
    assert!(matches!(error, IsolationError::NoBranch { .. }), "{error}");
    let error = worktrees
        .create("../up", "main")
        .await
        .expect_err("no name");
    assert!(
        matches!(error, IsolationError::InvalidName { .. }),
        "{error}"
    );
    let error = Worktrees::open(&repo.path(), &repo.trees(), "a/b", commands()).await;
    assert!(matches!(error, Err(IsolationError::InvalidName { .. })));
    assert_eq!(worktrees.current_branch().await.expect("a branch"), "main");
    repo.git(&["checkout", "--quiet", "--detach"]);
    let error = worktrees.current_branch().await.expect_err("none");
    assert!(matches!(error, IsolationError::Detached { .. }), "{error}");
}

#[tokio::test]
async fn no_hook_of_the_repository_runs_and_no_variable_redirects_git() {
    let repo = Repo::new();
    for hook in [
        "post-checkout",
        "pre-commit",
        "commit-msg",
        "post-merge",
        "reference-transaction",
    ] {
        let path = repo.path().join(".git/hooks").join(hook);
        fs::write(
            &path,
            "#!/bin/sh\necho ran >> \"$(git rev-parse --git-common-dir)/ran\"\nexit 1\n",
        )
        .expect("a hook");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    }
    let misdirected = commands()
        .env("GIT_DIR", "/nowhere")
        .env("GIT_INDEX_FILE", "/nowhere")
        .env("GIT_AUTHOR_NAME", "Mallory");
    let opened = Worktrees::open(&repo.path(), &repo.trees(), "fleet", misdirected).await;
    let worktree = opened.expect("a repository").create("one", "main").await;
    let worktree = worktree.expect("it is made");

    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    worktree
        .commit_all(&author(), "Add b")
        .await
        .expect("it is committed");
    worktree
        .merge_if(&author(), crate::isolation::fixture::pass)
        .await
        .expect("it is merged");
    worktree.remove().await.expect("nothing is lost");

    assert!(!repo.path().join(".git/ran").exists());
    let commit_text = git(
        &repo.path(),
        &["show", "--no-patch", "--format=%an", "main"],
    );
    assert_eq!(commit_text, "Agent");
}

#[tokio::test]
async fn an_agent_that_left_its_branch_loses_nothing() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    git(
        worktree.folder(),
        &["checkout", "--quiet", "-b", "elsewhere"],
    );
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");

    let error = worktree
        .commit_all(&author(), "Add b")
        .await
        .expect_err("not there");

    assert!(
        matches!(error, IsolationError::LeftBranch { .. }),
        "{error}"
    );
    assert!(
        error.to_string().contains("refs/heads/elsewhere"),
        "{error}"
    );
    for error in [worktree.remove().await, worktree.remove_folder_only().await] {
        assert!(matches!(error, Err(IsolationError::LeftBranch { .. })));
    }
    assert!(worktree.folder().join("b.txt").exists());
}

#[tokio::test]
async fn a_repository_inside_of_a_worktree_is_not_lost() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    let inside = worktree.folder().join("inside");
    fs::create_dir(&inside).expect("a folder");
    git(&inside, &["init", "--quiet"]);
    fs::write(inside.join("b.txt"), "new\n").expect("a file");
    git(&inside, &["add", "--all"]);
    git(&inside, &["commit", "--quiet", "-m", "inside"]);

    let error = worktree
        .commit_all(&author(), "Add it")
        .await
        .expect_err("git would lose it");

    assert!(
        matches!(error, IsolationError::NestedRepository { .. }),
        "{error}"
    );
    let error = worktree.remove().await.expect_err("it has work");
    assert!(
        matches!(error, IsolationError::Uncommitted { .. }),
        "{error}"
    );
    assert!(inside.join("b.txt").exists());
}

#[tokio::test]
async fn git_has_a_deadline() {
    let repo = Repo::new();
    let hurried = repo.worktrees().await.git_timeout(Duration::from_nanos(1));

    let error = hurried.create("one", "main").await.expect_err("no time");

    assert!(matches!(error, IsolationError::Git { .. }), "{error}");
    let worktree = repo.worktrees().await.create("one", "main").await;
    worktree.expect("nothing is left of the first try");
}

#[tokio::test]
async fn a_stalled_lock_holder_is_named_after_a_timeout() {
    let repo = Repo::new();
    let worktrees = repo.worktrees().await;
    worktrees.clean_up().await.expect("it is unlocked");
    let file = fs::File::options()
        .write(true)
        .open(repo.trees().join(".lock"))
        .expect("it is there");
    file.lock().expect("it is free");
    fs::write(repo.trees().join(".lock"), "4711 0\n").expect("ours");

    let refused = worktrees
        .lock_timeout(Duration::from_millis(100))
        .create("one", "main")
        .await;

    assert!(
        matches!(&refused, Err(IsolationError::Stalled { holder, .. }) if holder == "4711"),
        "{refused:?}"
    );
    drop(file);
    repo.worktree("one").await;
}
