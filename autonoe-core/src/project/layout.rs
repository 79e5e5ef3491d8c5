//! The project directory and every path in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::git_ignore::write_git_ignore;
use super::{FileKind, ProjectError, open_file_to_append, read_text_file};
use crate::port::ProjectPaths;
use crate::port::lexical_path::normalise;
use crate::port::lexical_path::visible::trimmed;

/// More than any agent reads.
const LARGEST_SPECIFICATION: u64 = 16 * 1024 * 1024;

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
    link: Option<PathBuf>,
}

impl Project {
    /// Finds the project: `chosen`, which may be relative to `working_dir`, or else `working_dir`.
    ///
    /// # Errors
    ///
    /// There is no such directory, it is something else, or it cannot be looked into.
    pub fn find(working_dir: &Path, chosen: Option<&Path>) -> Result<Self, ProjectError> {
        let path = chosen.map_or_else(|| working_dir.to_owned(), |path| working_dir.join(path));
        let found = fs::metadata(&path).map_err(|source| match source.kind() {
            io::ErrorKind::NotFound if path.is_symlink() => ProjectError::NotADirectory {
                path: path.clone(),
                found: FileKind::BrokenSymlink,
            },
            io::ErrorKind::NotFound => ProjectError::NoDirectory { path: path.clone() },
            _ => ProjectError::unreadable(&path, source),
        })?;
        if !found.is_dir() {
            let found = FileKind::of(found.file_type());
            return Err(ProjectError::NotADirectory { path, found });
        }
        // Symlinks and `..` in the path of a project would be in the way of every later check.
        let root =
            fs::canonicalize(&path).map_err(|source| ProjectError::unreadable(&path, source))?;
        fs::read_dir(&root).map_err(|source| ProjectError::unreadable(&root, source))?;
        // Without its `..`, a path through a symlink may lead elsewhere.
        let leads_here = |link: &PathBuf| fs::canonicalize(link).is_ok_and(|real| real == root);
        let link = Some(normalise(&path)).filter(|link| *link != root && leads_here(link));
        Ok(Self { root, link })
    }

    /// Returns the project directory, absolute and without symlinks.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path that the project was found by, if it leads through a symlink.
    pub fn link(&self) -> Option<&Path> {
        self.link.as_deref()
    }

    /// Returns the places of a run in this project.
    pub fn paths(&self) -> ProjectPaths {
        let project_paths = ProjectPaths::new(&self.root);
        match &self.link {
            Some(link) => project_paths.with_project_link(link),
            None => project_paths,
        }
    }

    /// Returns where the specification is, having looked that there is something to read in it.
    ///
    /// # Errors
    ///
    /// `SPEC.md` is missing, blank, not a file, not UTF-8, larger than 16 MiB, or cannot
    /// be read.
    pub fn specification(&self) -> Result<PathBuf, ProjectError> {
        let path = self.root.join("SPEC.md");
        match read_text_file(&path, LARGEST_SPECIFICATION)? {
            None => Err(ProjectError::NoSpecification { path }),
            // An agent that is asked for nothing makes something up.
            Some(text) if trimmed(&text).is_empty() => {
                Err(ProjectError::BlankSpecification { path })
            }
            Some(_) => Ok(path),
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

    /// Returns where the conversations of flows are kept until these end:
    /// `.autonoe/conversations`.
    pub fn conversations_dir(&self) -> PathBuf {
        self.state_dir().join("conversations")
    }

    /// Returns where agents leave notes for the next session: `.autonoe-note.md`.
    pub fn note_path(&self) -> PathBuf {
        self.root.join(".autonoe-note.md")
    }

    /// Makes the folder of Autonoe's own files if it is missing, and looks that it can be written to.
    ///
    /// It also writes `.autonoe/.gitignore` if there is none, so that Git does not take the state
    /// of runs away.
    ///
    /// # Errors
    ///
    /// It is a symlink or no folder, a file that is written in it is a symlink
    /// or no file, or it cannot be made or written to.
    pub fn ensure_state_dir(&self) -> Result<PathBuf, ProjectError> {
        let dir = self.state_dir();
        if !is_there(&dir) {
            match fs::create_dir(&dir) {
                // Another process may have been quicker.
                Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(ProjectError::unwritable(&dir, source));
                }
                _ => {}
            }
            // Without this a power cut may take the folder with all that is synced in it.
            fs::File::open(self.root())
                .and_then(|root| root.sync_all())
                .map_err(|source| ProjectError::unwritable(self.root(), source))?;
        }
        self.check_state_dir()?;
        let probe = self.write_lock_path();
        match open_file_to_append(&probe) {
            Ok(_) => {}
            Err(source) if is_there(&probe) => {
                return Err(ProjectError::unwritable(&probe, source));
            }
            Err(source) => return Err(ProjectError::unwritable(&dir, source)),
        }
        write_git_ignore(&dir)?;
        Ok(dir)
    }

    /// Looks that the folder of Autonoe's own files is a folder, and what is written in it files.
    pub(super) fn check_state_dir(&self) -> Result<(), ProjectError> {
        let dir = self.state_dir();
        for path in [dir.clone(), self.conversations_dir()] {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {}
                // Behind a symlink, the guard of this folder would watch the wrong place.
                Ok(found) => {
                    let found = FileKind::of(found.file_type());
                    return Err(ProjectError::NotAFolder { path, found });
                }
                Err(source) if source.kind() == io::ErrorKind::NotFound && path != dir => {}
                Err(source) => return Err(ProjectError::unreadable(&dir, source)),
            }
        }
        for path in self.written_files() {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => {}
                // To write through a symlink is to write elsewhere, to open a pipe is to wait.
                Ok(found) => {
                    let found = FileKind::of(found.file_type());
                    return Err(ProjectError::NotAFile { path, found });
                }
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(ProjectError::unreadable(&dir, source)),
            }
        }
        Ok(())
    }

    /// Returns the files in the state folder that are written on, and not replaced.
    pub(super) fn appended_files(&self) -> [PathBuf; 3] {
        [
            self.write_lock_path(),
            self.run_lock_path(),
            self.journal_path(),
        ]
    }

    /// Returns the files in the state folder that are written.
    fn written_files(&self) -> [PathBuf; 5] {
        [
            self.status_path(),
            self.status_path().with_extension("json.tmp"),
            self.write_lock_path(),
            self.run_lock_path(),
            self.journal_path(),
        ]
    }

    /// Returns where the writers of the ledger take turns: `.autonoe/status.lock`.
    fn write_lock_path(&self) -> PathBuf {
        self.state_dir().join("status.lock")
    }
}

/// Tells whether anything stands at `path`, be it a symlink that leads nowhere.
pub(super) fn is_there(path: &Path) -> bool {
    !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}
