//! Tests of hostile worktrees: settings that name programs, and forged repository links.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use autonoe_harness::Worktrees;
use autonoe_harness::isolation::{IsolationError, Worktree};

use crate::isolation::fixture::{Repo, author, commands, git, pass};

/// A program that creates the file `ran` when it is run, and copies its input to its output.
struct Trap {
    program: PathBuf,
    ran: PathBuf,
}

impl Trap {
    fn new(repo: &Repo) -> Self {
        let folder = repo.path();
        let folder = folder.parent().expect("it has one");
        let (program, ran) = (folder.join("trap"), folder.join("ran"));
        let script = format!("#!/bin/sh\necho x >>'{}'\nexec cat\n", ran.display());
        fs::write(&program, script).expect("a file");
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&program, executable).expect("ours");
        Self { program, ran }
    }

    fn command(&self) -> &str {
        self.program.to_str().expect("plain")
    }

    fn has_run(&self) -> bool {
        self.ran.exists()
    }
}

async fn with_work(repo: &Repo) -> Worktree {
    let worktree = repo.worktree("one").await;
    fs::write(worktree.folder().join("b.txt"), "new\n").expect("a file");
    worktree
}

#[tokio::test]
async fn no_filter_that_an_agent_has_set_up_runs() {
    for name in ["plain", "with=sign", "two.parts"] {
        let repo = Repo::new();
        let trap = Trap::new(&repo);
        let worktree = with_work(&repo).await;
        for key in ["clean", "smudge", "process"] {
            let key = format!("filter.{name}.{key}");
            // As an agent does it, in its working folder.
            git(worktree.folder(), &["config", &key, trap.command()]);
        }
        let required = format!("filter.{name}.required");
        git(worktree.folder(), &["config", &required, "true"]);
        let attributes = format!("* filter={name}\n");
        fs::write(worktree.folder().join(".gitattributes"), attributes).expect("a file");

        worktree
            .commit_all(&author(), "Work")
            .await
            .expect("committed");
        worktree.merge_if(&author(), pass).await.expect("merged");
        worktree.remove().await.expect("nothing is lost");
        repo.worktree("two").await;

        assert!(!trap.has_run(), "{name}");
        assert_eq!(repo.git(&["show", "main:b.txt"]), "new");
    }
}

#[tokio::test]
async fn a_merge_driver_of_an_agent_does_not_run_and_files_are_merged_as_text() {
    let repo = Repo::new();
    let trap = Trap::new(&repo);
    let worktree = repo.worktree("one").await;
    for key in [
        "merge.mine.driver",
        "diff.mine.textconv",
        "diff.mine.command",
    ] {
        git(worktree.folder(), &["config", key, trap.command()]);
    }
    git(worktree.folder(), &["config", "merge.default", "mine"]);
    let attributes = "*.txt merge=mine diff=mine\n";
    fs::write(worktree.folder().join(".gitattributes"), attributes).expect("a file");
    let text = "one\ntwo\nthree\nfour\n";
    fs::write(worktree.folder().join("a.txt"), text).expect("a file");
    worktree
        .commit_all(&author(), "Work")
        .await
        .expect("committed");
    repo.write("a.txt", "zero\none\ntwo\nthree\n");
    repo.commit("meanwhile");

    worktree.merge_if(&author(), pass).await.expect("merged");

    assert!(!trap.has_run());
    let merged = repo.git(&["show", "main:a.txt"]);
    assert_eq!(merged, "zero\none\ntwo\nthree\nfour");
}

#[tokio::test]
async fn a_file_that_cannot_be_merged_as_text_conflicts() {
    let repo = Repo::new();
    let worktree = repo.worktree("one").await;
    // Would accept its own side.
    git(worktree.folder(), &["config", "merge.mine.driver", "true"]);
    let attributes = "*.txt merge=mine\n";
    fs::write(worktree.folder().join(".gitattributes"), attributes).expect("a file");
    fs::write(worktree.folder().join("a.txt"), "mine\n").expect("a file");
    worktree
        .commit_all(&author(), "Work")
        .await
        .expect("committed");
    repo.write("a.txt", "theirs\n");
    repo.commit("meanwhile");

    let merged = worktree.merge_if(&author(), pass).await;

    assert!(
        matches!(&merged, Err(IsolationError::Conflict { files, .. }) if files == "a.txt"),
        "{merged:?}"
    );
}

/// Creates a repository that looks like that of the worktree, with all of its work committed.
fn replace_git_file(worktree: &Worktree) {
    let folder = worktree.folder();
    let other = folder.join(".other");
    let other_path = other.to_str().expect("plain");
    git(folder, &["init", "--quiet", "--bare", other_path]);
    fs::write(other.join("info/exclude"), ".other\n").expect("a file");
    fs::write(folder.join(".git"), "gitdir: .other\n").expect("a file");
    git(folder, &["config", "core.bare", "false"]);
    let head = format!("refs/heads/{}", worktree.branch());
    git(folder, &["symbolic-ref", "HEAD", &head]);
    git(folder, &["add", "--all"]);
    git(folder, &["commit", "--quiet", "-m", "Elsewhere"]);
}

#[tokio::test]
async fn a_worktree_that_names_another_repository_is_refused_and_kept() {
    let repo = Repo::new();
    let worktree = with_work(&repo).await;
    let before = repo.git(&["rev-parse", worktree.branch()]);
    replace_git_file(&worktree);

    let outcomes = [
        worktree.commit_all(&author(), "Work").await.map(drop),
        worktree.merge_if(&author(), pass).await.map(drop),
        worktree.remove_folder_only().await,
        worktree.remove().await,
    ];

    for outcome in outcomes {
        assert!(
            matches!(outcome, Err(IsolationError::Foreign { .. })),
            "{outcome:?}"
        );
    }
    assert!(worktree.folder().join("b.txt").exists());
    assert_eq!(repo.git(&["rev-parse", worktree.branch()]), before);
}

#[tokio::test]
async fn a_worktree_that_is_a_repository_of_its_own_is_refused_and_can_be_discarded() {
    let repo = Repo::new();
    let worktree = with_work(&repo).await;
    fs::remove_file(worktree.folder().join(".git")).expect("ours");
    git(worktree.folder(), &["init", "--quiet"]);

    let finished = worktree.commit_all(&author(), "Work").await;
    worktree.discard().await.expect("nothing of it is wanted");

    assert!(
        matches!(finished, Err(IsolationError::Foreign { .. })),
        "{finished:?}"
    );
    assert_eq!(repo.branches(), ["main"]);
    assert!(!worktree.folder().exists());
    repo.is_clean();
}

#[tokio::test]
async fn a_checked_out_submodule_is_refused() {
    let repo = Repo::new();
    let module = Repo::new();
    let from = module.path();
    let from = from.to_str().expect("plain");
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        from,
        "module",
    ]);
    repo.commit("Add a module");
    let trap = Trap::new(&repo);
    let worktree = with_work(&repo).await;
    check_out_module(worktree.folder());
    let inside = worktree.folder().join("module");
    git(&inside, &["config", "core.fsmonitor", trap.command()]);

    let finished = worktree.commit_all(&author(), "Work").await;

    assert!(
        matches!(&finished, Err(IsolationError::NestedRepository { inside, .. }) if inside == "module"),
        "{finished:?}"
    );
    assert!(!trap.has_run());
}

fn check_out_module(folder: &Path) {
    let update = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "update",
        "--init",
    ];
    git(folder, &update);
}

#[tokio::test]
async fn symlinks_among_the_worktrees_are_not_followed() {
    let repo = Repo::new();
    let outside = tempfile::tempdir().expect("a folder");
    let empty = || fs::read_dir(outside.path()).expect("there").count() == 0;

    fs::create_dir(repo.trees()).expect("a folder");
    symlink(outside.path().join("new"), repo.trees().join(".gitignore")).expect("a link");
    let trees = repo.worktrees().await;
    assert!(empty(), "nothing is written through .gitignore");

    symlink(outside.path(), repo.trees().join("fleet")).expect("a link");
    assert!(trees.create("one", "main").await.is_err());
    assert!(empty(), "no worktree is made behind a link");

    fs::remove_dir_all(repo.trees()).expect("ours");
    symlink(outside.path(), repo.trees()).expect("a link");
    let opened = Worktrees::open(&repo.path(), &repo.trees(), "fleet", commands()).await;
    assert!(opened.is_err());
    assert!(empty(), "nothing is made behind a link");
}
