//! Fixture: a temporary repository.

use std::fs;
use std::path::PathBuf;

use autonoe_harness::Worktrees;
use autonoe_harness::executor::Verification;
use autonoe_harness::isolation::{Author, Worktree};
use autonoe_process::ProcessRunner;
pub(crate) use autonoe_testkit::program::git;
use tempfile::TempDir;

pub(crate) const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub(crate) struct Repo {
    folder: TempDir,
}

impl Repo {
    /// Creates a repository on `main` with one commit.
    pub(crate) fn new() -> Self {
        let repo = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        fs::create_dir(repo.path()).expect("a folder");
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        repo.write("a.txt", "one\ntwo\nthree\n");
        repo.write(".gitignore", "*.log\n");
        repo.commit("first");
        repo
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("repo")
    }

    /// Returns the folder of worktrees, outside of the repository.
    pub(crate) fn trees(&self) -> PathBuf {
        self.folder.path().join("trees")
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.path().join(path), text).expect("a file");
    }

    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.path(), arguments)
    }

    pub(crate) async fn worktrees(&self) -> Worktrees {
        let opened = Worktrees::open(&self.path(), &self.trees(), "fleet", commands()).await;
        opened.expect("it is a repository")
    }

    pub(crate) async fn worktree(&self, name: &str) -> Worktree {
        let created = self.worktrees().await.create(name, "main").await;
        created.expect("it can be made")
    }

    /// Returns all branches, sorted.
    pub(crate) fn branches(&self) -> Vec<String> {
        let list = self.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        list.lines().map(str::to_owned).collect()
    }

    /// Fails if git finds a problem, or anything is left of worktrees.
    pub(crate) fn is_clean(&self) {
        self.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(
            self.git(&[
                "worktree",
                "prune",
                "--dry-run",
                "--verbose",
                "--expire=now"
            ]),
            ""
        );
        let locks = self.git_files().into_iter();
        let locks: Vec<_> = locks.filter(|name| name.ends_with(".lock")).collect();
        assert!(locks.is_empty(), "{locks:?}");
    }

    fn git_files(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path().join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                if entry.file_type().expect("a type").is_dir() {
                    folders.push(entry.path());
                } else {
                    found.push(entry.path().display().to_string());
                }
            }
        }
        found
    }
}

pub(crate) fn commands() -> ProcessRunner {
    ProcessRunner::unconfined("/").env("PATH", PATH)
}

pub(crate) fn author() -> Author {
    Author::new("Agent", "agent@example.org")
}

/// Checks that always pass.
pub(crate) async fn pass(_: PathBuf) -> Verification {
    Verification::passed("there are no checks")
}
