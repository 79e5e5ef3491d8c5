//! State of a run's branch on the remote.

use std::path::Path;
use std::time::Duration;

use autonoe_process::{CommandOutcome, CommandOutput};

use crate::remote::NAME;
use crate::sync_refs::{BASE, TIP};
use crate::sync_repo::SyncRepo;
use crate::{SyncError, SyncRemote, SyncedProject};
use autonoe_harness::isolation::{Git, failed, output_text, text};

/// Time limit for listing the refs of the remote.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// State of the remote. Its commits have been fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RemoteState {
    /// The branch of the run exists, and this is its last commit.
    Branch(String),
    /// The branch does not exist; this is the last commit of the base.
    OnlyBase(String),
}

impl SyncedProject {
    /// Returns the last commit of the run's branch, without changing anything.
    pub(crate) async fn branch_tip(&self) -> Result<Option<String>, SyncError> {
        let branch = format!("refs/heads/{}", self.branch);
        let folder = self.project.root();
        let mut tips = self.remote.list(&self.git, folder, &[&branch]).await?;
        Ok(tips.remove(0))
    }
}

impl SyncRemote {
    /// Returns the commits of refs.
    pub(crate) async fn list(
        &self,
        git: &Git,
        folder: &Path,
        names: &[&str],
    ) -> Result<Vec<Option<String>>, SyncError> {
        let mut command = vec!["ls-remote", "--quiet", NAME];
        command.extend(names);
        let git = self.reachable_from(git).within(LIST_TIMEOUT);
        let output = git.try_run(folder, &command).await?;
        if !output.is_success() {
            return Err(self.unreachable_error(&output));
        }
        let listing = text(&output.stdout);
        let commit_of = |requested: &&str| {
            let mut lines = listing.lines().filter_map(|line| line.split_once('\t'));
            let (commit, _) = lines.find(|(_, name)| name == requested)?;
            Some(commit.to_owned())
        };
        Ok(names.iter().map(commit_of).collect())
    }

    /// Fetches a ref of the remote as `here`.
    pub(crate) async fn fetch(
        &self,
        git: &Git,
        folder: &Path,
        name: &str,
        here: &str,
    ) -> Result<(), SyncError> {
        let names = format!("+{name}:{here}");
        let fetch = fetch_command(NAME, &names);
        let output = self.reachable_from(git).try_run(folder, &fetch).await?;
        if output.is_success() {
            Ok(())
        } else {
            Err(self.unreachable_error(&output))
        }
    }

    /// Pushes a commit to a branch, without hooks, tags and submodules, if the branch is still at
    /// `seen`: `None` if it did not exist.
    pub(crate) async fn push(
        &self,
        git: &Git,
        folder: &Path,
        (commit, branch): (&str, &str),
        seen: Option<&str>,
    ) -> Result<CommandOutput, SyncError> {
        let push = [
            "push",
            "--porcelain",
            "--no-progress",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            &format!("--force-with-lease={branch}:{}", seen.unwrap_or_default()),
            NAME,
            &format!("{commit}:{branch}"),
        ];
        Ok(self.reachable_from(git).try_run(folder, &push).await?)
    }

    /// Returns git with access to the remote.
    fn reachable_from(&self, git: &Git) -> Git {
        git.clone()
            .with_settings(&self.settings())
            .allow_protocol(self.protocol())
    }

    /// Returns the error of a remote that does not answer.
    pub(crate) fn unreachable_error(&self, output: &CommandOutput) -> SyncError {
        let message = format!("git {}: {}", output.end, output_text(output));
        SyncError::Unreachable {
            remote: self.to_string(),
            output: self.redact(&message),
        }
    }
}

/// Returns the git command that fetches refs of a repository, without tags, submodules and
/// maintenance.
pub(crate) fn fetch_command<'a>(repository: &'a str, names: &'a str) -> [&'a str; 8] {
    [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
        repository,
        names,
    ]
}

/// Returns whether a commit contains another one.
pub(crate) async fn is_ancestor(
    git: &Git,
    folder: &Path,
    older: &str,
    newer: &str,
) -> Result<bool, SyncError> {
    let command = ["merge-base", "--is-ancestor", older, newer];
    let output = git.try_run(folder, &command).await?;
    match output.end {
        CommandOutcome::Exited { code: 0 } => Ok(true),
        CommandOutcome::Exited { code: 1 } => Ok(false),
        _ => Err(failed(&command, &output).into()),
    }
}

impl SyncRepo<'_> {
    /// Reads the remote, and fetches new commits.
    pub(crate) async fn fetch_state(&self) -> Result<RemoteState, SyncError> {
        let synced_project = self.synced_project;
        let branch = format!("refs/heads/{}", synced_project.branch);
        let base = format!("refs/heads/{}", synced_project.base);
        let found = synced_project
            .remote
            .list(&self.git, self.folder(), &[&branch, &base])
            .await?;
        match &found[..] {
            [Some(commit), _] => {
                let commit = self.fetch_commit(&branch, commit, TIP).await?;
                Ok(RemoteState::Branch(commit))
            }
            [None, Some(commit)] => {
                let commit = self.fetch_commit(&base, commit, BASE).await?;
                Ok(RemoteState::OnlyBase(commit))
            }
            _ => Err(SyncError::NoBase {
                remote: synced_project.remote.to_string(),
                base: synced_project.base.clone(),
            }),
        }
    }

    /// Fetches the commit of a ref on the remote, and stores it as `here`.
    async fn fetch_commit(
        &self,
        name: &str,
        commit: &str,
        here: &str,
    ) -> Result<String, SyncError> {
        let known = self.commit_of(here).await?;
        if known.as_deref() == Some(commit) {
            return Ok(commit.to_owned());
        }
        let remote = &self.synced_project.remote;
        remote.fetch(&self.git, self.folder(), name, here).await?;
        // The ref may have moved in the meantime.
        self.run_ok(&["rev-parse", "--verify", &format!("{here}^{{commit}}")])
            .await
    }
}
