//! The project directory and every path in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::ProjectError;

/// A project directory: knows every path in it.
///
/// It reads neither the environment nor the working directory; who starts a
/// run says where it is.
///
/// ```
/// use autonoe_core::Project;
///
/// # let dir = tempfile::tempdir()?;
/// # std::fs::write(dir.path().join("SPEC.md"), "# Shop")?;
/// # let (working_dir, chosen) = (dir.path(), None);
/// let project = Project::find(working_dir, chosen)?;
///
/// assert!(project.specification()?.ends_with("SPEC.md"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

impl Project {
    /// Finds the project: `chosen`, which may be relative to `working_dir`, or else `working_dir`.
    ///
    /// # Errors
    ///
    /// There is no such directory, or it cannot be looked into.
    pub fn find(working_dir: &Path, chosen: Option<&Path>) -> Result<Self, ProjectError> {
        let path = chosen.map_or_else(|| working_dir.to_owned(), |path| working_dir.join(path));
        let found = fs::metadata(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound => ProjectError::NoDirectory { path: path.clone() },
            _ => ProjectError::unreadable(&path, source),
        })?;
        if !found.is_dir() {
            return Err(ProjectError::NoDirectory { path });
        }
        // Symlinks and `..` in the path of a project would be in the way of every later check.
        let root =
            fs::canonicalize(&path).map_err(|source| ProjectError::unreadable(&path, source))?;
        fs::read_dir(&root).map_err(|source| ProjectError::unreadable(&root, source))?;
        Ok(Self { root })
    }

    /// Returns the project directory, absolute and without symlinks.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns where the specification is, having looked that it can be read.
    ///
    /// # Errors
    ///
    /// `SPEC.md` is missing, is not a file, or cannot be read.
    pub fn specification(&self) -> Result<PathBuf, ProjectError> {
        let path = self.root.join("SPEC.md");
        match fs::File::open(&path).and_then(|file| file.metadata()) {
            Ok(found) if found.is_file() => Ok(path),
            Ok(_) => Err(ProjectError::NoSpecification { path }),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                Err(ProjectError::NoSpecification { path })
            }
            Err(source) => Err(ProjectError::unreadable(&path, source)),
        }
    }

    /// Returns the folder of Autonoe's own files, `.autonoe`.
    pub fn state_dir(&self) -> PathBuf {
        self.root.join(".autonoe")
    }

    /// Returns where the ledger is: `.autonoe/status.json`.
    pub fn status_path(&self) -> PathBuf {
        self.state_dir().join("status.json")
    }

    /// Returns where the lock of a run is: `.autonoe/run.lock`.
    pub fn run_lock_path(&self) -> PathBuf {
        self.state_dir().join("run.lock")
    }

    /// Returns where the journal is: `.autonoe/journal.jsonl`.
    pub fn journal_path(&self) -> PathBuf {
        self.state_dir().join("journal.jsonl")
    }

    /// Returns where the configuration is: `.autonoe/agent.json`.
    pub fn config_path(&self) -> PathBuf {
        self.state_dir().join("agent.json")
    }

    /// Returns where agents leave notes for the next session: `.autonoe-note.md`.
    pub fn note_path(&self) -> PathBuf {
        self.root.join(".autonoe-note.md")
    }

    /// Makes the folder of Autonoe's own files if it is missing, and looks that it can be written to.
    ///
    /// # Errors
    ///
    /// It is a symlink or no folder, or it cannot be made or written to.
    pub fn ensure_state_dir(&self) -> Result<PathBuf, ProjectError> {
        let dir = self.state_dir();
        match fs::symlink_metadata(&dir) {
            Ok(found) if found.is_dir() => {}
            // Behind a symlink, the guard of this folder would watch the wrong place.
            Ok(_) => return Err(ProjectError::NotAFolder { path: dir }),
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(&dir).map_err(|source| ProjectError::unwritable(&dir, source))?;
            }
            Err(source) => return Err(ProjectError::unreadable(&dir, source)),
        }
        let probe = dir.join("status.lock");
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(&probe)
            .map_err(|source| ProjectError::unwritable(&dir, source))?;
        Ok(dir)
    }
}
