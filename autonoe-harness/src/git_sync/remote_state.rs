//! State of a run's branch on the remote.

use std::time::Duration;

use autonoe_process::CommandOutput;

use super::remote::NAME;
use super::sync_refs::{BASE, TIP};
use super::sync_repo::SyncRepo;
use super::{SyncError, SyncedProject};
use crate::isolation::{Git, output_text, text};

/// Time limit for listing the refs of the remote.
const LIST_TIMEOUT: Duration = Duration::from_secs(60);

/// State of the remote. Its commits have been fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RemoteState {
    /// The branch of the run exists, and this is its last commit.
    Branch(String),
    /// The branch does not exist; this is the last commit of the base.
    OnlyBase(String),
}

impl SyncedProject {
    /// Returns the last commit of the run's branch, without changing anything.
    pub(super) async fn branch_tip(&self) -> Result<Option<String>, SyncError> {
        let branch = format!("refs/heads/{}", self.branch);
        Ok(self.names(&self.git, &[&branch]).await?.remove(0))
    }

    /// Returns the commits of refs on the remote.
    async fn names(&self, git: &Git, names: &[&str]) -> Result<Vec<Option<String>>, SyncError> {
        let mut command = vec!["ls-remote", "--quiet", NAME];
        command.extend(names);
        let git = self.with_remote(git).within(LIST_TIMEOUT);
        let output = git.try_run(self.project.root(), &command).await?;
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

    pub(super) fn with_remote(&self, git: &Git) -> Git {
        git.clone()
            .with_settings(&self.remote.settings())
            .allow_protocol(self.remote.protocol())
    }

    /// Returns the error of a remote that does not answer.
    pub(super) fn unreachable_error(&self, output: &CommandOutput) -> SyncError {
        let message = format!("git {}: {}", output.end, output_text(output));
        SyncError::Unreachable {
            remote: self.remote.to_string(),
            output: self.remote.redact(&message),
        }
    }
}

/// Returns the git command that fetches refs of a repository, without tags, submodules and
/// maintenance.
pub(super) fn fetch_command<'a>(repository: &'a str, names: &'a str) -> [&'a str; 8] {
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

impl SyncRepo<'_> {
    /// Reads the remote, and fetches new commits.
    pub(super) async fn fetch_state(&self) -> Result<RemoteState, SyncError> {
        let synced_project = self.synced_project;
        let branch = format!("refs/heads/{}", synced_project.branch);
        let base = format!("refs/heads/{}", synced_project.base);
        let found = synced_project.names(&self.git, &[&branch, &base]).await?;
        match &found[..] {
            [Some(commit), _] => {
                let commit = self.get(&branch, commit, TIP).await?;
                Ok(RemoteState::Branch(commit))
            }
            [None, Some(commit)] => {
                let commit = self.get(&base, commit, BASE).await?;
                Ok(RemoteState::OnlyBase(commit))
            }
            _ => Err(SyncError::NoBase {
                remote: synced_project.remote.to_string(),
                base: synced_project.base.clone(),
            }),
        }
    }

    /// Fetches the commit of a ref on the remote, and stores it as `here`.
    async fn get(&self, name: &str, commit: &str, here: &str) -> Result<String, SyncError> {
        let known = self.commit_of(here).await?;
        if known.as_deref() == Some(commit) {
            return Ok(commit.to_owned());
        }
        let names = format!("+{name}:{here}");
        let fetch = fetch_command(NAME, &names);
        let git = self.synced_project.with_remote(&self.git);
        let output = git.try_run(self.folder(), &fetch).await?;
        if !output.is_success() {
            return Err(self.synced_project.unreachable_error(&output));
        }
        // The ref may have moved in the meantime.
        let got = self.commit_of(here).await?;
        got.ok_or_else(|| self.synced_project.unreachable_error(&output))
    }
}
