//! State of a run's branch on the remote.

use std::path::Path;
use std::time::Duration;

use autonoe_process::CommandOutput;

use crate::remote::NAME;
use crate::sync_refs::{BASE, TIP};
use crate::sync_repo::SyncRepo;
use crate::{SyncError, SyncRemote, SyncedProject};
use autonoe_harness::isolation::{Git, output_text, text};

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

    /// Returns git with access to the remote.
    pub(crate) fn reachable_from(&self, git: &Git) -> Git {
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
        let git = self.synced_project.remote.reachable_from(&self.git);
        let output = git.try_run(self.folder(), &fetch).await?;
        if !output.is_success() {
            return Err(self.synced_project.remote.unreachable_error(&output));
        }
        // The ref may have moved in the meantime.
        let got = self.commit_of(here).await?;
        got.ok_or_else(|| self.synced_project.remote.unreachable_error(&output))
    }
}
