//! Commits the whole project as one tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use autonoe_core::project::replace_file_durably;

use crate::SyncError;
use crate::sync_repo::SyncRepo;
use autonoe_harness::isolation::{IsolationError, WorkLocation};
use autonoe_harness::isolation::{check_no_nested_repository, failed};

/// Files of `.autonoe` that are synchronised even if git ignores them: the ledger and the records
/// of sessions.
const ALWAYS: [&str; 5] = [
    ".autonoe/status.json",
    ".autonoe/journal.jsonl",
    ".autonoe/journal.1.jsonl",
    ".autonoe/journal.2.jsonl",
    ".autonoe/journal.3.jsonl",
];

/// Paths that are never committed: conversations, requests, locks and unfinished files.
const NEVER: [&str; 6] = [
    ":(glob).autonoe/conversations/**",
    ":(glob).autonoe/requests/**",
    ":(glob).autonoe/live.json",
    ":(glob).autonoe/**/*.lock",
    ":(glob).autonoe/**/*.tmp",
    ":(glob)**/.autonoe-try-*",
];

impl SyncRepo<'_> {
    /// Stages everything that is synchronised, and returns its tree.
    ///
    /// # Errors
    ///
    /// There is a nested repository.
    pub(crate) async fn stage_all(&self) -> Result<String, SyncError> {
        self.check_no_repository_inside().await?;
        self.run_ok(&["add", "--all"]).await?;
        // Afterwards: excluding a path that is ignored anyway is an error in git.
        let mut never = vec![
            "rm",
            "--cached",
            "--quiet",
            "--force",
            "--ignore-unmatch",
            "--",
        ];
        never.extend(NEVER);
        self.run_ok(&never).await?;
        let mut listed = vec!["ls-files", "-z", "--"];
        listed.extend(ALWAYS);
        let listed = self.run_ok(&listed).await?;
        let listed: Vec<&str> = listed.split('\0').collect();
        let is_there = |path: &str| self.folder().join(path).symlink_metadata().is_ok();
        let always = ALWAYS.into_iter();
        let always: Vec<&str> = always
            .filter(|path| listed.contains(path) || is_there(path))
            .collect();
        if !always.is_empty() {
            let mut force = vec!["add", "--all", "--force", "--"];
            force.extend(always);
            self.run_ok(&force).await?;
        }
        self.run_ok(&["write-tree"]).await
    }

    /// Checks that there is no nested repository: git would record its commit only and not its
    /// files, and inspecting a submodule would make git follow the settings in it.
    async fn check_no_repository_inside(&self) -> Result<(), SyncError> {
        let place = WorkLocation {
            branch: self.synced_project.branch.clone(),
            folder: self.folder().to_owned(),
        };
        match check_no_nested_repository(&self.git, &place).await {
            Err(IsolationError::NestedRepository { inside, .. }) => {
                return Err(SyncError::NestedRepository { inside });
            }
            checked => checked.map(drop)?,
        }
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others = self.run_ok(&others).await?;
        // Folders are listed by their files, and only repositories by themselves.
        match others.split('\0').find(|path| path.ends_with('/')) {
            None => Ok(()),
            Some(inside) => Err(SyncError::NestedRepository {
                inside: inside.trim_end_matches('/').to_owned(),
            }),
        }
    }

    /// Checks that a commit contains no files that must stay on their host.
    pub(crate) async fn check_files(&self, commit: &str) -> Result<(), SyncError> {
        let list = ["ls-tree", "-r", "-z", "--name-only", commit, ".autonoe/"];
        let list = self.run_ok(&list).await?;
        let is_bad = |path: &&str| path.ends_with(".lock") || path.ends_with(".tmp");
        match list.split('\0').find(is_bad) {
            None => Ok(()),
            Some(file) => Err(SyncError::ForbiddenFile {
                commit: commit.to_owned(),
                file: file.to_owned(),
            }),
        }
    }

    /// Stages ignored files that a commit would overwrite. Returns the tree with them.
    pub(crate) async fn stage_blocking_files(
        &self,
        tree: String,
        commit: &str,
    ) -> Result<String, SyncError> {
        let new = [
            "diff-tree",
            "-r",
            "-z",
            "--no-renames",
            "--name-only",
            "--diff-filter=AT",
            &tree,
            commit,
        ];
        let output = self.try_run(&new).await?;
        if !output.is_success() {
            return Err(failed(&new, &output).into());
        }
        let mut in_the_way = Vec::new();
        for path in output.stdout.split(|byte| *byte == 0) {
            if let Some(found) = self.blocking_path(path) {
                in_the_way.extend_from_slice(&found);
                in_the_way.push(0);
            }
        }
        if in_the_way.is_empty() {
            return Ok(tree);
        }
        let list = self.synced_project.sync_repo_dir().join("in-the-way");
        replace_file_durably(&list, &in_the_way).map_err(IsolationError::io(&list))?;
        let list = format!("--pathspec-from-file={}", list.display());
        let add = [
            "--literal-pathspecs",
            "add",
            "--force",
            "--pathspec-file-nul",
            &list,
        ];
        self.run_ok(&add).await?;
        self.run_ok(&["write-tree"]).await
    }

    /// Returns the existing path that blocks the creation of a file at `path` or of one of its
    /// parent folders.
    fn blocking_path(&self, path: &[u8]) -> Option<Vec<u8>> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let ends = slashes.map(|(at, _)| at).chain([path.len()]);
        for end in ends.filter(|end| *end > 0) {
            let part = OsStr::from_bytes(&path[..end]);
            let found = self.folder().join(part).symlink_metadata().ok()?;
            if end == path.len() || !found.is_dir() {
                return Some(path[..end].to_vec());
            }
        }
        None
    }
}
