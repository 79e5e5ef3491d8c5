//! Work that comes into the base, once it is checked there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use autonoe_process::CommandEnd;
use sha2::{Digest, Sha256};

use super::git::{Git, failed, text, words};
use super::locked::Locked;
use super::remove::{on_its_branch, uncommitted};
use super::step::Step;
use super::turn::{self, Turn};
use super::{Author, IsolationError, Worktree};
use crate::Verification;

/// How long another one may merge and be checked before it is not waited for.
const TURN: Duration = Duration::from_secs(3600);

/// How often the base may move while the work is checked.
const TRIES: usize = 5;

/// How many files git is asked about at once.
const AT_ONCE: usize = 100;

/// How exact the times of files are.
const INEXACT: Duration = Duration::from_millis(20);

/// What was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// The commit that the base is at now.
    pub commit: String,
    /// The folder that has the base checked out, and was brought to that commit.
    pub into: Option<PathBuf>,
    /// What the checks said.
    pub verification: Verification,
}

impl Worktree {
    /// Merges the work into its base, if `checks` pass in the folder of the worktree once it has all
    /// that came to the base meanwhile.
    ///
    /// One after the other merges into a base. The base moves only from the commit that was checked
    /// against. If somebody else moved it meanwhile, all is done again. A folder that has the base checked out is brought to the new commit only if
    /// nothing there is lost by that.
    ///
    /// # Errors
    ///
    /// Something is not committed or conflicts, a check fails, or a folder with the base has changes
    /// of its own. The work is kept, and the error says where.
    pub async fn merge_if<C, F>(&self, author: &Author, checks: C) -> Result<Merged, IsolationError>
    where
        C: FnMut(PathBuf) -> F,
        F: Future<Output = Verification>,
    {
        self.merge_while(author, || true, checks).await
    }

    /// Merges the work as [`merge_if`](Self::merge_if) does, as long as it is `wanted`: that is asked
    /// at last when nobody else can merge any more, right before the base moves. So the work of a
    /// run that was cancelled while it was checked is not merged.
    ///
    /// # Errors
    ///
    /// [`IsolationError::Unwanted`], and as [`merge_if`](Self::merge_if).
    pub async fn merge_while<W, C, F>(
        &self,
        author: &Author,
        wanted: W,
        mut checks: C,
    ) -> Result<Merged, IsolationError>
    where
        W: Fn() -> bool,
        C: FnMut(PathBuf) -> F,
        F: Future<Output = Verification>,
    {
        let (git, place) = (&self.trees.git, self.place());
        let _turn = self.turn_to_merge(&wanted).await?;
        let base_ref = format!("refs/heads/{}", self.base());
        for _ in 0..TRIES {
            on_its_branch(git, &place).await?;
            uncommitted(git, &place).await?;
            let asked = ["rev-parse", "--verify", &base_ref];
            let from = git.ask(&self.trees.repo, &asked).await?;
            self.bring_in(author, &from).await?;
            let checked = git.ask(self.root(), &["rev-parse", "HEAD"]).await?;
            // What came from the base may have taken it away.
            self.make_folder()?;
            let verification = checks(self.folder().to_owned()).await;
            if !verification.is_success() {
                return Err(IsolationError::ChecksFailed {
                    verification,
                    place,
                });
            }
            let locked = self.trees.lock().await?;
            if !wanted() {
                return Err(IsolationError::Unwanted { place });
            }
            if let Some(into) = locked.advance(self, self.base(), (&from, &checked)).await? {
                return Ok(Merged {
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

    /// Waits until nobody else merges into the base: what is checked would be out of date when they
    /// have, and the last of many would never come to its end.
    ///
    /// One who keeps the others waiting for very long is not waited for: the base moves only from
    /// the commit that was checked against, with or without a queue.
    async fn turn_to_merge(
        &self,
        wanted: &impl Fn() -> bool,
    ) -> Result<Option<Turn>, IsolationError> {
        let digest = Sha256::digest(self.base().as_bytes());
        let digest: String = digest.iter().take(8).map(|b| format!("{b:02x}")).collect();
        let path = self.trees.folder.join(format!(".merge-{digest}"));
        let still_wanted = || match wanted() {
            true => Ok(()),
            false => Err(IsolationError::Unwanted {
                place: self.place(),
            }),
        };
        match turn::take(&path, TURN, still_wanted).await {
            Ok(lock) => Ok(Some(Turn { path, _lock: lock })),
            Err(IsolationError::Stalled { holder, .. }) => {
                tracing::warn!(holder, "somebody merges for very long");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Merges the commit of the base into the worktree.
    ///
    /// What comes of it is made beside the worktree first, which is touched only when it is known
    /// that all fits, and then in a step that can be mended.
    async fn bring_in(&self, author: &Author, base: &str) -> Result<(), IsolationError> {
        let (git, folder) = (&self.trees.git, self.root());
        let asked = ["merge-base", "--is-ancestor", base, "HEAD"];
        if git.attempt(folder, &asked).await?.is_success() {
            return Ok(());
        }
        let head = git.ask(folder, &["rev-parse", "HEAD"]).await?;
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
        let merged = git.ask(folder, &command).await?;
        let locked = self.trees.lock().await?;
        let advanced = locked
            .advance(self, self.branch(), (&head, &merged))
            .await?;
        match advanced {
            Some(_) => Ok(()),
            None => Err(IsolationError::BaseMoves {
                base: self.branch().to_owned(),
                place: self.place(),
            }),
        }
    }

    /// Makes the tree that two commits come to together.
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
        let said = self.trees.git.attempt(self.root(), &merge).await?;
        let answer = text(&said.stdout);
        let mut parts = answer.split('\0').filter(|part| !part.is_empty());
        let tree = parts.next().unwrap_or_default().to_owned();
        let files: Vec<&str> = parts.collect();
        match said.end {
            CommandEnd::Exited { code: 0 } => Ok(tree),
            CommandEnd::Exited { code: 1 } if !files.is_empty() => Err(IsolationError::Conflict {
                base: self.base().to_owned(),
                files: files.join(", "),
                place: self.place(),
            }),
            _ => Err(failed(&merge, &said)),
        }
    }
}

/// How a base came to be at another commit.
pub(super) struct Advanced {
    /// The folder that has it checked out.
    folder: Option<PathBuf>,
}

impl Locked {
    /// Brings a branch from a commit to one that follows it; `None` if it is not there any more.
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
            Err(said) => Err(IsolationError::WouldOverwrite {
                into: folder.unwrap_or_else(|| self.trees.repo.clone()),
                said,
                place: of.place(),
            }),
        }
    }

    /// Brings a folder and the branch that is checked out there to another commit, or says why not.
    async fn fast_forward(
        &self,
        folder: &Path,
        branch: &str,
        (from, to): (&str, &str),
    ) -> Result<Result<(), String>, IsolationError> {
        let step = Step::Advance {
            folder: folder.to_owned(),
            base: branch.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        step.begin(&self.trees.folder)?;
        let merge = ["merge", "--quiet", "--ff-only", "--no-overwrite-ignore", to];
        let said = self.git.attempt(folder, &merge).await;
        match &said {
            // It looks before it begins: if it says no, nothing was touched, and nothing is to be
            // mended later, when there may be other work.
            Ok(said) if matches!(said.end, CommandEnd::Exited { .. }) => {
                Step::end(&self.trees.folder)?;
            }
            // A git that ran out of time may have been ended in the middle.
            _ => self.mend().await?,
        }
        let said = said?;
        Ok(match said.is_success() {
            true => Ok(()),
            false => Err(words(&said)),
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
        let said = self.git.attempt(&self.trees.repo, &update).await?;
        Ok(match said.is_success() {
            true => Ok(()),
            false => Err(words(&said)),
        })
    }

    /// Tells whether the file is what git leaves that is killed while it writes the one of `to`: not
    /// there, or the beginning of it.
    async fn is_begun(
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
        let whole = self.git.attempt(folder, &blob).await?;
        let here = fs::read(&file).map_err(IsolationError::io(file))?;
        Ok(whole.is_success() && whole.stdout.starts_with(&here))
    }

    /// Brings a folder with the base, in which a merge was interrupted, to one of its two commits.
    ///
    /// Only files are touched that are as the new commit has them, or that git had begun to write
    /// after `since`: that content is not lost.
    pub(super) async fn settle(
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
        let changed = git.ask(folder, &changed).await?;
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
            // Files and index were there already, and only the branch was not.
            let moved = self.move_ref(base, from, to).await?;
            return moved.map_err(|said| IsolationError::Git {
                doing: "update-ref".to_owned(),
                how: "failed".to_owned(),
                said,
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
            let hashes = git.ask(folder, &hash.collect::<Vec<_>>()).await?;
            here.extend(some.iter().copied().zip(hashes.lines().map(str::to_owned)));
        }
        for path in paths {
            // What is neither there nor in the new commit was removed, by git or by a person; what
            // is there and no file is not git's work.
            let is_new = here.contains_key(path) && here.get(path) == new.get(path)
                || self.is_begun(folder, path, to, since).await?;
            match old.get(path) {
                Some(_) if is_new => {
                    git.ask(folder, &["checkout", "--quiet", from, "--", path])
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
    let said = git
        .ask(folder, &["ls-tree", "-r", "-z", "--full-tree", commit])
        .await?;
    Ok(by_path(&said, 2))
}

async fn staged(git: &Git, folder: &Path) -> Result<BTreeMap<String, String>, IsolationError> {
    let said = git
        .ask(folder, &["ls-files", "--stage", "-z", "--full-name"])
        .await?;
    Ok(by_path(&said, 1))
}

/// Reads `fields.. TAB path NUL`; the hash is the field of that number.
fn by_path(said: &str, hash: usize) -> BTreeMap<String, String> {
    said.split('\0')
        .filter_map(|line| {
            let (fields, path) = line.split_once('\t')?;
            let hash = fields.split(' ').nth(hash)?;
            Some((path.to_owned(), hash.to_owned()))
        })
        .collect()
}
