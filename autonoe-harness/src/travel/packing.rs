//! All of a project as one tree.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use autonoe_core::replace_file_durably;

use super::TravelError;
use super::courier::Courier;
use crate::isolation::{failed, no_repository_inside};
use crate::{IsolationError, WorkPlace};

/// What of `.autonoe` travels also where git ignores it: the ledger and the records of sessions.
const ALWAYS: [&str; 5] = [
    ".autonoe/status.json",
    ".autonoe/journal.jsonl",
    ".autonoe/journal.1.jsonl",
    ".autonoe/journal.2.jsonl",
    ".autonoe/journal.3.jsonl",
];

/// Paths that are never committed: conversations, locks and unfinished files.
const NEVER: [&str; 4] = [
    ":(glob).autonoe/conversations/**",
    ":(glob).autonoe/**/*.lock",
    ":(glob).autonoe/**/*.tmp",
    ":(glob)**/.autonoe-try-*",
];

impl Courier<'_> {
    /// Takes all of the project that travels into the index, and returns its tree.
    ///
    /// # Errors
    ///
    /// There is a repository inside.
    pub(super) async fn pack(&self) -> Result<String, TravelError> {
        self.no_repository_inside().await?;
        self.ask(&["add", "--all"]).await?;
        // Afterwards: to leave something out that is ignored anyway is an error to git.
        let mut never = vec![
            "rm",
            "--cached",
            "--quiet",
            "--force",
            "--ignore-unmatch",
            "--",
        ];
        never.extend(NEVER);
        self.ask(&never).await?;
        let mut listed = vec!["ls-files", "-z", "--"];
        listed.extend(ALWAYS);
        let listed = self.ask(&listed).await?;
        let listed: Vec<&str> = listed.split('\0').collect();
        let is_there = |path: &str| self.folder().join(path).symlink_metadata().is_ok();
        let always = ALWAYS.into_iter();
        let always: Vec<&str> = always
            .filter(|path| listed.contains(path) || is_there(path))
            .collect();
        if !always.is_empty() {
            let mut force = vec!["add", "--all", "--force", "--"];
            force.extend(always);
            self.ask(&force).await?;
        }
        self.ask(&["write-tree"]).await
    }

    /// Makes sure that no repository is inside: git would take its number and leave its work, and to
    /// look at a submodule it would follow the settings that stand in there.
    async fn no_repository_inside(&self) -> Result<(), TravelError> {
        let place = WorkPlace {
            branch: self.travels.branch.clone(),
            folder: self.folder().to_owned(),
        };
        match no_repository_inside(&self.git, &place).await {
            Err(IsolationError::NestedRepository { inside, .. }) => {
                return Err(TravelError::NestedRepository { inside });
            }
            checked => checked.map(drop)?,
        }
        let others = ["ls-files", "--others", "--exclude-standard", "-z"];
        let others = self.ask(&others).await?;
        // Folders are listed by their files, and only repositories by themselves.
        match others.split('\0').find(|path| path.ends_with('/')) {
            None => Ok(()),
            Some(inside) => Err(TravelError::NestedRepository {
                inside: inside.trim_end_matches('/').to_owned(),
            }),
        }
    }

    /// Makes sure that a commit brings nothing that must stay on its host.
    pub(super) async fn may_come(&self, commit: &str) -> Result<(), TravelError> {
        let list = ["ls-tree", "-r", "-z", "--name-only", commit, ".autonoe/"];
        let list = self.ask(&list).await?;
        let is_bad = |path: &&str| path.ends_with(".lock") || path.ends_with(".tmp");
        match list.split('\0').find(is_bad) {
            None => Ok(()),
            Some(file) => Err(TravelError::MustNotTravel {
                commit: commit.to_owned(),
                file: file.to_owned(),
            }),
        }
    }

    /// Takes into the index what git ignores and what would be overwritten by a commit. Returns the
    /// tree with it.
    pub(super) async fn pack_what_is_in_the_way(
        &self,
        tree: String,
        commit: &str,
    ) -> Result<String, TravelError> {
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
        let said = self.attempt(&new).await?;
        if !said.is_success() {
            return Err(failed(&new, &said).into());
        }
        let mut in_the_way = Vec::new();
        for path in said.stdout.split(|byte| *byte == 0) {
            if let Some(found) = self.in_the_way_of(path) {
                in_the_way.extend_from_slice(&found);
                in_the_way.push(0);
            }
        }
        if in_the_way.is_empty() {
            return Ok(tree);
        }
        let list = self.travels.courier_dir().join("in-the-way");
        replace_file_durably(&list, &in_the_way).map_err(IsolationError::io(&list))?;
        let list = format!("--pathspec-from-file={}", list.display());
        let add = [
            "--literal-pathspecs",
            "add",
            "--force",
            "--pathspec-file-nul",
            &list,
        ];
        self.ask(&add).await?;
        self.ask(&["write-tree"]).await
    }

    /// Returns what stands where a file of that path would be made, or a folder on the way to it.
    fn in_the_way_of(&self, path: &[u8]) -> Option<Vec<u8>> {
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
