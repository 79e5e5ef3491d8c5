//! Git repository of the agents in a synchronised project, and its quarantine.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use autonoe_core::project::{create_folder, replace_file_durably};

use crate::SyncError;
use crate::remote_state::fetch_command;
use crate::sync_refs::{AGENTS, CURRENT, QUARANTINE, UNPUBLISHED};
use crate::sync_repo::SyncRepo;
use autonoe_harness::isolation::{IsolationError, Repository, output_text};

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
    pub(crate) async fn agents_head(&self) -> Result<Option<String>, SyncError> {
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
    pub(crate) async fn replace_agents_repo(&self, head: &str) -> Result<(), SyncError> {
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
    pub(crate) async fn fetch_from_agents(
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
                output = output_text(&output),
                "cannot fetch the commits of agents"
            );
        }
        Ok(output.is_success())
    }

    /// Lets a repository read the objects of the sync repository.
    pub(crate) fn share_objects(&self, dir: &Path) -> io::Result<()> {
        let info = dir.join("objects/info");
        create_folder(&info)?;
        let objects = self.synced_project.sync_repo_dir().join("objects");
        let line = [objects.as_os_str().as_encoded_bytes(), b"\n"].concat();
        replace_file_durably(&info.join("alternates"), &line)
    }
}

/// Returns whether a repository is self-contained, and consists of regular files and folders.
pub(crate) fn is_self_contained(dir: &Path) -> bool {
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

/// Name of the repository that is being deleted. It has been searched for unknown commits.
const DELETED: &str = "deleted";

impl SyncRepo<'_> {
    fn quarantine_dir(&self) -> PathBuf {
        self.synced_project.home.join("repositories-of-agents")
    }

    /// Quarantines a repository of agents, if there is one.
    pub(crate) fn quarantine(&self, path: &Path) -> io::Result<()> {
        if path.symlink_metadata().is_err() {
            return Ok(());
        }
        let quarantine_dir = self.quarantine_dir();
        create_folder(&quarantine_dir)?;
        let free = (1..).map(|number: u32| quarantine_dir.join(number.to_string()));
        let mut free = free.filter(|path| path.symlink_metadata().is_err());
        match free.next() {
            Some(free) => fs::rename(path, free),
            None => Err(io::Error::other("no free name is left")),
        }
    }

    /// Deletes the quarantined repositories. Commits that their branches, tags and other refs point
    /// to and that are not known here are kept. A repository that cannot be read, or has more than
    /// one stash, stays as it is.
    ///
    /// No session may be running in the project: it could still be using one of them.
    pub(crate) async fn clean_quarantine(&self) -> Result<(), SyncError> {
        let quarantine_dir = self.quarantine_dir();
        let deleted = quarantine_dir.join(DELETED);
        // Left by a killed process.
        remove(&deleted).map_err(IsolationError::io(&deleted))?;
        let entries = match fs::read_dir(&quarantine_dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.map_err(IsolationError::io(&quarantine_dir))?,
        };
        for entry in entries {
            let entry = entry.map_err(IsolationError::io(&quarantine_dir))?;
            let (dir, name) = (entry.path(), entry.file_name());
            let Some(name) = name.to_str() else { continue };
            if !self.back_up_refs(&dir, name).await? {
                tracing::warn!(folder = %dir.display(), "cannot remove a repository of agents");
                continue;
            }
            // A rename is atomic, so that a partially deleted repository is never mistaken for a
            // whole one.
            fs::rename(&dir, &deleted).map_err(IsolationError::io(&dir))?;
            remove(&deleted).map_err(IsolationError::io(&deleted))?;
        }
        Ok(())
    }

    /// Keeps the unknown commits that the refs of a repository point to. Returns whether all refs
    /// point to commits.
    async fn back_up_refs(&self, dir: &Path, name: &str) -> Result<bool, SyncError> {
        let Some(place) = dir
            .to_str()
            .filter(|_| is_self_contained(dir) && !has_stashes(dir))
        else {
            return Ok(false);
        };
        self.share_objects(dir).map_err(IsolationError::io(dir))?;
        let fetched_refs = format!("{QUARANTINE}{name}/");
        if !self
            .fetch_from_agents(place, &format!("+refs/*:{fetched_refs}*"))
            .await?
        {
            return Ok(false);
        }
        let format = "--format=%(objecttype) %(objectname) %(refname)";
        let list = self
            .run_ok(&["for-each-ref", format, &fetched_refs])
            .await?;
        let mut is_all = true;
        for line in list.lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(object), Some(named)) =
                (words.next(), words.next(), words.next())
            else {
                return Ok(false);
            };
            // An annotated tag has a message of its own, and a ref may point to a file or a folder.
            is_all &= kind == "commit";
            if kind == "commit" && !self.is_known(object).await? {
                let backup = format!("{UNPUBLISHED}agents-{object}");
                self.run_ok(&["update-ref", &backup, object]).await?;
                let place = self.synced_project.sync_repo_dir();
                tracing::warn!(backup, named, repository = %place.display(), "kept a ref");
            }
            self.delete_ref(named).await?;
        }
        Ok(is_all)
    }

    /// Returns whether a commit is contained in the current commit of the project, or is kept.
    async fn is_known(&self, object: &str) -> Result<bool, SyncError> {
        let backup = format!("--glob={UNPUBLISHED}*");
        let unknown = [
            "rev-list",
            "--max-count=1",
            object,
            "--not",
            CURRENT,
            &backup,
        ];
        Ok(self.run_ok(&unknown).await?.is_empty())
    }
}

/// Returns whether there are stashes besides the last one, which have no refs.
fn has_stashes(dir: &Path) -> bool {
    let log = dir.join("logs/refs/stash");
    let is_file = log.symlink_metadata().map(|found| found.is_file());
    match is_file {
        Ok(true) => fs::read(log).map_or(true, |log| log.split(|byte| *byte == b'\n').count() > 2),
        Ok(false) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// Deletes a folder, if it exists. Links in it are not followed.
fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
