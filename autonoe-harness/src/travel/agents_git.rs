//! The repository that agents have in a project that travels.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use autonoe_core::{create_folder, replace_file_durably};

use super::TravelError;
use super::courier::Courier;
use super::seeing::fetch;
use super::steps::AGENTS;
use crate::IsolationError;
use crate::isolation::{Repository, words};

/// How long it may take to get what agents have committed.
const ONE_MINUTE: Duration = Duration::from_secs(60);

const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\t\
    logallrefupdates = true\n";

impl Courier<'_> {
    /// Gets what agents have committed, and returns the commit that they are at; `None` if there is
    /// none, or it cannot be got.
    ///
    /// Their repository is read as that of a stranger: git serves a repository that it is asked to
    /// fetch from without a hook or a program of its settings.
    pub(super) async fn agents_head(&self) -> Result<Option<String>, TravelError> {
        let dir = self.folder().join(".git");
        if dir.symlink_metadata().is_err() {
            return Ok(None);
        }
        if !is_plain(&dir) {
            tracing::warn!(folder = %dir.display(), "what agents have committed is left: their repository leads elsewhere");
            return Ok(None);
        }
        // Written anew each time: it could lead to what agents cannot read themselves.
        self.lend_objects(&dir).map_err(IsolationError::io(&dir))?;
        let dir = dir.to_str().ok_or_else(|| {
            let reason = io::Error::other("its name is not UTF-8");
            IsolationError::io(&dir)(reason)
        })?;
        match self
            .get_from_agents(dir, &format!("+HEAD:{AGENTS}"))
            .await?
        {
            true => self.commit_of(AGENTS).await,
            false => Ok(None),
        }
    }

    /// Gives agents a new repository that is at `head`. What they had is put aside. Nobody may be at
    /// work in the project.
    pub(super) async fn renew_agents_git(&self, head: &str) -> Result<(), TravelError> {
        let (home, branch) = (&self.travels.home, &self.travels.branch);
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
        let git = self.travels.bare_git.holding(&self.lock);
        git.ask(home, &init).await?;
        let config = fresh.join("config");
        replace_file_durably(&config, CONFIG.as_bytes()).map_err(IsolationError::io(config))?;
        self.lend_objects(&fresh)
            .map_err(IsolationError::io(&fresh))?;
        let git = git.of(Repository {
            top: self.folder().to_owned(),
            dir: fresh.clone(),
            common: fresh.clone(),
        });
        let name = format!("refs/heads/{branch}");
        git.ask(self.folder(), &["update-ref", &name, head]).await?;
        git.ask(self.folder(), &["read-tree", head]).await?;
        let place = self.folder().join(".git");
        self.put_aside(&place).map_err(IsolationError::io(&place))?;
        Ok(fs::rename(&fresh, &place).map_err(IsolationError::io(place))?)
    }

    /// Gets what names of a repository of agents lead to; tells whether that was possible.
    pub(super) async fn get_from_agents(
        &self,
        repository: &str,
        names: &str,
    ) -> Result<bool, TravelError> {
        let git = self.git.clone().reaching("file").within(ONE_MINUTE);
        let said = git
            .attempt(self.folder(), &fetch(repository, names))
            .await?;
        if !said.is_success() {
            tracing::warn!(said = words(&said), "what agents have cannot be got");
        }
        Ok(said.is_success())
    }

    /// Lets a repository read what the courier has.
    pub(super) fn lend_objects(&self, dir: &Path) -> io::Result<()> {
        let info = dir.join("objects/info");
        create_folder(&info)?;
        let objects = self.travels.courier_dir().join("objects");
        let line = [objects.as_os_str().as_encoded_bytes(), b"\n"].concat();
        replace_file_durably(&info.join("alternates"), &line)
    }
}

/// Tells whether a repository is where it seems to be, and made of files that can be read.
pub(super) fn is_plain(dir: &Path) -> bool {
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
