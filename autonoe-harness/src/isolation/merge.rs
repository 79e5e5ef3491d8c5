//! Merges a worktree into its base branch, after its checks have passed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use autonoe_process::CommandOutcome;
use sha2::{Digest, Sha256};

use super::git::{Git, failed, output_text, text};
use super::locked::LockedWorktrees;
use super::merge_queue::{self, QueueLock};
use super::owner::WorktreeOperation;
use super::worktree::{check_branch, check_clean};
use super::{Author, IsolationError, Worktree};
use crate::executor::Verification;

/// Time to wait for another merge, with its checks, before proceeding without the queue.
const TURN: Duration = Duration::from_secs(3600);

/// Maximum number of attempts if the base moves during the checks.
const TRIES: usize = 5;

/// Maximum number of files per git call.
const AT_ONCE: usize = 100;

/// Tolerance for file times.
const INEXACT: Duration = Duration::from_millis(20);

/// A completed merge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MergeReport {
    /// The new commit of the base.
    pub commit: String,
    /// The folder that has the base checked out, and was updated to that commit.
    pub into: Option<PathBuf>,
    /// The result of the checks.
    pub verification: Verification,
}

impl Worktree {
    /// Merges the work into its base, if `checks` pass in the folder of the worktree after the
    /// newest base was merged into it.
    ///
    /// Merges into the same base run one after the other. The base only moves from the commit that
    /// was checked. If it moved in the meantime, everything is repeated. A folder that has the base
    /// checked out is only updated if no changes there are lost.
    ///
    /// # Errors
    ///
    /// There is uncommitted work, a conflict or a failed check, or a folder with the base has local
    /// changes. The work is kept, and the error names its location.
    pub async fn merge_if<C, F>(
        &self,
        author: &Author,
        checks: C,
    ) -> Result<MergeReport, IsolationError>
    where
        C: FnMut(PathBuf) -> F,
        F: Future<Output = Verification>,
    {
        self.merge_while(author, || true, checks).await
    }

    /// Merges the work as [`merge_if`](Self::merge_if) does, as long as `is_wanted` returns true. It
    /// is called for the last time under the lock, immediately before the base moves, so that the
    /// work of a run that was cancelled during the checks is not merged.
    ///
    /// # Errors
    ///
    /// [`IsolationError::MergeCancelled`], and those of [`merge_if`](Self::merge_if).
    pub async fn merge_while<W, C, F>(
        &self,
        author: &Author,
        is_wanted: W,
        mut checks: C,
    ) -> Result<MergeReport, IsolationError>
    where
        W: Fn() -> bool,
        C: FnMut(PathBuf) -> F,
        F: Future<Output = Verification>,
    {
        let (git, place) = (&self.trees.git, self.location());
        let _turn = self.wait_for_turn(&is_wanted).await?;
        let base_ref = format!("refs/heads/{}", self.base());
        for _ in 0..TRIES {
            check_branch(git, &place).await?;
            check_clean(git, &place).await?;
            let command = ["rev-parse", "--verify", &base_ref];
            let from = git.run_ok(&self.trees.repo, &command).await?;
            self.merge_base_into_branch(author, &from).await?;
            let checked = git.run_ok(self.root(), &["rev-parse", "HEAD"]).await?;
            // The merge of the base may have removed it.
            self.make_folder()?;
            let verification = checks(self.folder().to_owned()).await;
            if !verification.is_success() {
                return Err(IsolationError::ChecksFailed {
                    verification,
                    place,
                });
            }
            let locked = self.trees.lock().await?;
            if !is_wanted() {
                return Err(IsolationError::MergeCancelled { place });
            }
            if let Some(into) = locked.advance(self, self.base(), (&from, &checked)).await? {
                return Ok(MergeReport {
                    commit: checked,
                    into: into.folder,
                    verification,
                });
            }
        }
        Err(IsolationError::BaseMoves {
            base: self.base().to_owned(),
            place,
        })
    }

    /// Waits until no other merge into the base is running: its result would outdate the checks,
    /// and the last of many merges would never succeed.
    ///
    /// A merge that takes very long is not waited for: the base only moves from the commit that was
    /// checked, with or without a queue.
    async fn wait_for_turn(
        &self,
        is_wanted: &impl Fn() -> bool,
    ) -> Result<Option<QueueLock>, IsolationError> {
        let digest = Sha256::digest(self.base().as_bytes());
        let digest: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        let path = self.trees.folder.join(format!(".merge-{digest}"));
        let check_wanted = || {
            if is_wanted() {
                Ok(())
            } else {
                Err(IsolationError::MergeCancelled {
                    place: self.location(),
                })
            }
        };
        match merge_queue::acquire(&path, TURN, check_wanted).await {
            Ok(lock) => Ok(Some(QueueLock { path, _lock: lock })),
            Err(IsolationError::Stalled { holder, .. }) => {
                tracing::warn!(holder, "another merge takes very long");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Merges the commit of the base into the worktree.
    ///
    /// The merge commit is created without the worktree. The worktree is only updated when there
    /// are no conflicts, in a step that can be repaired.
    async fn merge_base_into_branch(
        &self,
        author: &Author,
        base: &str,
    ) -> Result<(), IsolationError> {
        let (git, folder) = (&self.trees.git, self.root());
        let command = ["merge-base", "--is-ancestor", base, "HEAD"];
        if git.try_run(folder, &command).await?.is_success() {
            return Ok(());
        }
        let head = git.run_ok(folder, &["rev-parse", "HEAD"]).await?;
        let tree = self.merged_tree(&head, base).await?;
        let message = format!("Merge {} into {}", self.base(), self.branch());
        let commit = [
            "commit-tree",
            &tree,
            "-p",
            &head,
            "-p",
            base,
            "-m",
            &message,
        ];
        let mut command: Vec<String> = author.settings().into();
        command.extend(commit.map(str::to_owned));
        let merged = git.run_ok(folder, &command).await?;
        let locked = self.trees.lock().await?;
        let advanced = locked
            .advance(self, self.branch(), (&head, &merged))
            .await?;
        match advanced {
            Some(_) => Ok(()),
            None => Err(IsolationError::BaseMoves {
                base: self.branch().to_owned(),
                place: self.location(),
            }),
        }
    }

    /// Creates the merged tree of two commits.
    async fn merged_tree(&self, head: &str, base: &str) -> Result<String, IsolationError> {
        let merge = [
            "merge-tree",
            "--write-tree",
            "--name-only",
            "--no-messages",
            "-z",
            head,
            base,
        ];
        let output = self.trees.git.try_run(self.root(), &merge).await?;
        let answer = text(&output.stdout);
        let mut parts = answer.split('\0').filter(|part| !part.is_empty());
        let tree = parts.next().unwrap_or_default().to_owned();
        let files: Vec<&str> = parts.collect();
        match output.end {
            CommandOutcome::Exited { code: 0 } => Ok(tree),
            CommandOutcome::Exited { code: 1 } if !files.is_empty() => {
                Err(IsolationError::Conflict {
                    base: self.base().to_owned(),
                    files: files.join(", "),
                    place: self.location(),
                })
            }
            _ => Err(failed(&merge, &output)),
        }
    }
}

/// A completed update of a branch.
pub(super) struct Advanced {
    /// The folder that has the branch checked out.
    folder: Option<PathBuf>,
}

impl LockedWorktrees {
    /// Moves a branch from one commit to a descendant; `None` if the branch is no longer at `from`.
    async fn advance(
        &self,
        of: &Worktree,
        branch: &str,
        (from, to): (&str, &str),
    ) -> Result<Option<Advanced>, IsolationError> {
        let name = format!("refs/heads/{branch}");
        let list = self.list().await?;
        let folder = list
            .into_iter()
            .find(|tree| tree.branch.as_deref() == Some(&name));
        let folder = folder.map(|tree| tree.folder);
        let moved = match &folder {
            None => self.move_ref(branch, from, to).await?,
            Some(folder) => self.fast_forward(folder, branch, (from, to)).await?,
        };
        let now = self.commit_of(branch).await?;
        match moved {
            Ok(()) => Ok(Some(Advanced { folder })),
            Err(_) if now.as_deref() == Some(to) => Ok(Some(Advanced { folder })),
            Err(_) if now.as_deref() != Some(from) => Ok(None),
            Err(output) => Err(IsolationError::WouldOverwrite {
                into: folder.unwrap_or_else(|| self.trees.repo.clone()),
                output,
                place: of.location(),
            }),
        }
    }

    /// Updates a folder and its checked-out branch to another commit, or returns the output of git
    /// if that was refused.
    async fn fast_forward(
        &self,
        folder: &Path,
        branch: &str,
        (from, to): (&str, &str),
    ) -> Result<Result<(), String>, IsolationError> {
        let step = WorktreeOperation::Advance {
            folder: folder.to_owned(),
            base: branch.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        step.begin(&self.trees.folder)?;
        let merge = ["merge", "--quiet", "--ff-only", "--no-overwrite-ignore", to];
        let output = self.git.try_run(folder, &merge).await;
        match &output {
            // Git checks before it starts: if it refuses, nothing was touched. The step must not be
            // repaired later, when there may be other work.
            Ok(output) if matches!(output.end, CommandOutcome::Exited { .. }) => {
                WorktreeOperation::end(&self.trees.folder)?;
            }
            // A git process that timed out may have been killed in the middle.
            _ => self.repair().await?,
        }
        let output = output?;
        Ok(if output.is_success() {
            Ok(())
        } else {
            Err(output_text(&output))
        })
    }

    async fn move_ref(
        &self,
        base: &str,
        from: &str,
        to: &str,
    ) -> Result<Result<(), String>, IsolationError> {
        let name = format!("refs/heads/{base}");
        let update = ["update-ref", "-m", "autonoe: merge", &name, to, from];
        let output = self.git.try_run(&self.trees.repo, &update).await?;
        Ok(if output.is_success() {
            Ok(())
        } else {
            Err(output_text(&output))
        })
    }

    /// Returns whether the file is the remains of a git process that was killed while it wrote the
    /// version of `to`: missing, or a prefix of it.
    async fn is_partially_written(
        &self,
        folder: &Path,
        path: &str,
        to: &str,
        since: SystemTime,
    ) -> Result<bool, IsolationError> {
        let file = folder.join(path);
        let found = match file.symlink_metadata() {
            Ok(found) => found,
            Err(error) => return Ok(error.kind() == std::io::ErrorKind::NotFound),
        };
        let is_late = found.modified().is_ok_and(|at| at + INEXACT >= since);
        if !found.is_file() || !is_late {
            return Ok(false);
        }
        let blob = ["cat-file", "blob", &format!("{to}:{path}")];
        let whole = self.git.try_run(folder, &blob).await?;
        let here = fs::read(&file).map_err(IsolationError::io(file))?;
        Ok(whole.is_success() && whole.stdout.starts_with(&here))
    }

    /// Updates a folder with the base, in which a merge was interrupted, to one of its two commits.
    ///
    /// Only files are touched that equal their version in the new commit, or that git had started
    /// to write after `since`: no other content is lost.
    pub(super) async fn repair_base_folder(
        &self,
        folder: &Path,
        base: &str,
        (from, to): (&str, &str),
        since: SystemTime,
    ) -> Result<(), IsolationError> {
        let git = &self.git;
        if self.commit_of(base).await?.as_deref() != Some(from) {
            return Ok(());
        }
        let changed = [
            "diff-tree",
            "-r",
            "--name-only",
            "-z",
            "--no-renames",
            from,
            to,
        ];
        let changed = git.run_ok(folder, &changed).await?;
        let paths: Vec<&str> = changed
            .split('\0')
            .filter(|path| !path.is_empty())
            .collect();
        let (old, new) = (
            blobs(git, folder, from).await?,
            blobs(git, folder, to).await?,
        );
        let index = staged(git, folder).await?;
        if paths.iter().all(|path| index.get(*path) == new.get(*path)) {
            // Files and index are up to date, only the branch is not.
            let moved = self.move_ref(base, from, to).await?;
            return moved.map_err(|output| IsolationError::Git {
                doing: "update-ref".to_owned(),
                status: "failed".to_owned(),
                output,
            });
        }
        let files: Vec<&str> = paths
            .iter()
            .copied()
            .filter(|path| {
                folder
                    .join(path)
                    .symlink_metadata()
                    .is_ok_and(|it| it.is_file())
            })
            .collect();
        let mut here = BTreeMap::new();
        for some in files.chunks(AT_ONCE) {
            let hash = ["hash-object", "--"].iter().chain(some).copied();
            let hashes = git.run_ok(folder, &hash.collect::<Vec<_>>()).await?;
            here.extend(some.iter().copied().zip(hashes.lines().map(str::to_owned)));
        }
        for path in paths {
            // A file that neither exists nor is in the new commit was removed, by git or by a
            // person. Anything that exists and is not a file is not git's work.
            let is_new = here.contains_key(path) && here.get(path) == new.get(path)
                || self.is_partially_written(folder, path, to, since).await?;
            match old.get(path) {
                Some(_) if is_new => {
                    git.run_ok(folder, &["checkout", "--quiet", from, "--", path])
                        .await?;
                }
                None if is_new => match fs::remove_file(folder.join(path)) {
                    Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                        return Err(IsolationError::io(folder.join(path))(error));
                    }
                    _ => {}
                },
                _ => {}
            }
        }
        Ok(())
    }
}

async fn blobs(
    git: &Git,
    folder: &Path,
    commit: &str,
) -> Result<BTreeMap<String, String>, IsolationError> {
    let output = git
        .run_ok(folder, &["ls-tree", "-r", "-z", "--full-tree", commit])
        .await?;
    Ok(by_path(&output, 2))
}

async fn staged(git: &Git, folder: &Path) -> Result<BTreeMap<String, String>, IsolationError> {
    let output = git
        .run_ok(folder, &["ls-files", "--stage", "-z", "--full-name"])
        .await?;
    Ok(by_path(&output, 1))
}

/// Parses `fields.. TAB path NUL`; the hash is the field with this index.
fn by_path(output: &str, hash: usize) -> BTreeMap<String, String> {
    output
        .split('\0')
        .filter_map(|line| {
            let (fields, path) = line.split_once('\t')?;
            let hash = fields.split(' ').nth(hash)?;
            Some((path.to_owned(), hash.to_owned()))
        })
        .collect()
}
