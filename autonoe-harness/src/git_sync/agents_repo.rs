//! Git repository of the agents inside of a synchronised project.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use autonoe_core::project::{create_folder, replace_file_durably};

use super::SyncError;
use super::remote_state::fetch_command;
use super::sync_refs::AGENTS;
use super::sync_repo::SyncRepo;
use crate::isolation::IsolationError;
use crate::isolation::{Repository, output_text};

/// Time limit for fetching the commits of agents.
const ONE_MINUTE: Duration = Duration::from_secs(60);

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\t\
    logallrefupdates = true\n";

impl SyncRepo<'_> {
    /// Fetches the commits of agents, and returns their current commit; `None` if there is none, or
    /// it cannot be fetched.
    ///
    /// The repository of the agents is not trusted: git serves a repository to a fetch without
    /// running its hooks or programs from its settings.
    pub(super) async fn agents_head(&self) -> Result<Option<String>, SyncError> {
        let dir = self.folder().join(".git");
        if dir.symlink_metadata().is_err() {
            return Ok(None);
        }
        if !is_self_contained(&dir) {
            let folder = dir.display();
            tracing::warn!(%folder, "ignoring commits of agents: their repository points outside");
            return Ok(None);
        }
        // Rewritten each time: it could point to objects that agents cannot read themselves.
        self.share_objects(&dir).map_err(IsolationError::io(&dir))?;
        let dir = dir.to_str().ok_or_else(|| {
            let reason = io::Error::other("its name is not UTF-8");
            IsolationError::io(&dir)(reason)
        })?;
        let names = format!("+HEAD:{AGENTS}");
        if self.fetch_from_agents(dir, &names).await? {
            self.commit_of(AGENTS).await
        } else {
            Ok(None)
        }
    }

    /// Gives agents a new repository at `head`. The previous one is quarantined. No session may be
    /// running in the project.
    pub(super) async fn replace_agents_repo(&self, head: &str) -> Result<(), SyncError> {
        let (home, branch) = (&self.synced_project.home, &self.synced_project.branch);
        let fresh = home.join("fresh.git");
        match fs::remove_dir_all(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(IsolationError::io(fresh)(error).into());
            }
            _ => {}
        }
        let first = format!("--initial-branch={branch}");
        let init = [
            "init",
            "--quiet",
            "--bare",
            "--template=",
            &first,
            "fresh.git",
        ];
        let git = self.synced_project.bare_git.holding_lock(&self.lock);
        git.run_ok(home, &init).await?;
        let config = fresh.join("config");
        replace_file_durably(&config, CONFIG.as_bytes()).map_err(IsolationError::io(config))?;
        self.share_objects(&fresh)
            .map_err(IsolationError::io(&fresh))?;
        let git = git.for_repository(Repository {
            top: self.folder().to_owned(),
            dir: fresh.clone(),
            common: fresh.clone(),
        });
        let name = format!("refs/heads/{branch}");
        git.run_ok(self.folder(), &["update-ref", &name, head])
            .await?;
        git.run_ok(self.folder(), &["read-tree", head]).await?;
        let place = self.folder().join(".git");
        self.quarantine(&place)
            .map_err(IsolationError::io(&place))?;
        Ok(fs::rename(&fresh, &place).map_err(IsolationError::io(place))?)
    }

    /// Fetches refs from a repository of agents; returns whether that succeeded.
    pub(super) async fn fetch_from_agents(
        &self,
        repository: &str,
        names: &str,
    ) -> Result<bool, SyncError> {
        let git = self.git.clone().allow_protocol("file").within(ONE_MINUTE);
        let output = git
            .try_run(self.folder(), &fetch_command(repository, names))
            .await?;
        if !output.is_success() {
            tracing::warn!(
                said = output_text(&output),
                "cannot fetch the commits of agents"
            );
        }
        Ok(output.is_success())
    }

    /// Lets a repository read the objects of the sync repository.
    pub(super) fn share_objects(&self, dir: &Path) -> io::Result<()> {
        let info = dir.join("objects/info");
        create_folder(&info)?;
        let objects = self.synced_project.sync_repo_dir().join("objects");
        let line = [objects.as_os_str().as_encoded_bytes(), b"\n"].concat();
        replace_file_durably(&info.join("alternates"), &line)
    }
}

/// Returns whether a repository is self-contained, and consists of regular files and folders.
pub(super) fn is_self_contained(dir: &Path) -> bool {
    let is = |name: &str, fits: fn(&fs::Metadata) -> bool| {
        let found = dir.join(name).symlink_metadata();
        found.is_ok_and(|found| fits(&found))
    };
    let is_absent = |name: &str| dir.join(name).symlink_metadata().is_err();
    let (folders, files) = (["objects", "refs"], ["HEAD", "config"]);
    let is_folder = dir.symlink_metadata().is_ok_and(|found| found.is_dir());
    is_folder
        && folders.iter().all(|name| is(name, fs::Metadata::is_dir))
        && files.iter().all(|name| is(name, fs::Metadata::is_file))
        && (is_absent("objects/info") || is("objects/info", fs::Metadata::is_dir))
        && (is_absent("packed-refs") || is("packed-refs", fs::Metadata::is_file))
        && is_absent("commondir")
}
