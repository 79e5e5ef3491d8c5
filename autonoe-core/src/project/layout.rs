//! [`Project`], the project directory and every path in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::durable::sync_folder;
use super::git_ignore::write_git_ignore;
use super::{FileKind, ProjectError, open_file_to_append, read_text_file};
use crate::gate::ProjectPaths;
use crate::gate::lexical_path::{normalise, trim_invisible};

/// The maximum size of `SPEC.md` in bytes, which is more than any agent reads.
const LARGEST_SPECIFICATION: u64 = 16 * 1024 * 1024;

/// A project directory: knows every path in it.
///
/// It reads neither the environment nor the working directory; the caller passes the path.
///
/// ```
/// use autonoe_core::Project;
///
/// # let dir = tempfile::tempdir()?;
/// # std::fs::write(dir.path().join("SPEC.md"), "# Shop")?;
/// # let (working_dir, chosen) = (dir.path(), None);
/// let project = Project::find(working_dir, chosen)?;
///
/// assert!(project.specification()?.path().ends_with("SPEC.md"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
    link: Option<PathBuf>,
}

/// The `SPEC.md` of a project, after [`Project::specification`] has checked it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Specification {
    path: PathBuf,
}

impl Specification {
    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Project {
    /// Finds the project: `chosen`, which may be relative to `working_dir`, or else `working_dir`.
    ///
    /// # Errors
    ///
    /// There is no such directory, it is something else, or it cannot be read.
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
            let found = FileKind::from_file_type(found.file_type());
            return Err(ProjectError::NotADirectory { path, found });
        }
        // Symlinks and `..` in the path of a project would interfere with every later check.
        let root =
            fs::canonicalize(&path).map_err(|source| ProjectError::unreadable(&path, source))?;
        fs::read_dir(&root).map_err(|source| ProjectError::unreadable(&root, source))?;
        // Without its `..`, a path through a symlink may lead to another place.
        let points_here = |link: &PathBuf| fs::canonicalize(link).is_ok_and(|real| real == root);
        let link = Some(normalise(&path)).filter(|link| *link != root && points_here(link));
        Ok(Self { root, link })
    }

    /// Returns the project directory, absolute and without symlinks.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the path by which the project was found, if it leads through a symlink.
    pub fn link(&self) -> Option<&Path> {
        self.link.as_deref()
    }

    /// Returns the paths of this project for a run.
    pub fn paths(&self) -> ProjectPaths {
        let project_paths = ProjectPaths::new(&self.root);
        match &self.link {
            Some(link) => project_paths.with_project_link(link),
            None => project_paths,
        }
    }

    /// Returns the specification, after checking that it has content.
    ///
    /// # Errors
    ///
    /// `SPEC.md` is missing, blank, not a file, not UTF-8, larger than 16 MiB, or cannot be read.
    pub fn specification(&self) -> Result<Specification, ProjectError> {
        let path = self.root.join("SPEC.md");
        match read_text_file(&path, LARGEST_SPECIFICATION)? {
            None => Err(ProjectError::NoSpecification { path }),
            // An agent without a task makes something up.
            Some(text) if trim_invisible(&text).is_empty() => {
                Err(ProjectError::BlankSpecification { path })
            }
            Some(_) => Ok(Specification { path }),
        }
    }

    /// Returns the folder of Autonoe's own files, `.autonoe`.
    pub fn state_dir(&self) -> PathBuf {
        self.root.join(".autonoe")
    }

    /// Returns the path of the ledger: `.autonoe/status.json`.
    pub fn status_path(&self) -> PathBuf {
        self.state_dir().join("status.json")
    }

    /// Returns the path of the run lock: `.autonoe/run.lock`.
    pub fn run_lock_path(&self) -> PathBuf {
        self.state_dir().join("run.lock")
    }

    /// Returns the path of the journal: `.autonoe/journal.jsonl`.
    pub fn journal_path(&self) -> PathBuf {
        self.state_dir().join("journal.jsonl")
    }

    /// Returns the path of the configuration: `.autonoe/agent.json`.
    pub fn config_path(&self) -> PathBuf {
        self.state_dir().join("agent.json")
    }

    /// Returns the directory of the conversations of flows, which is kept until the flows end:
    /// `.autonoe/conversations`.
    pub fn conversations_dir(&self) -> PathBuf {
        self.state_dir().join("conversations")
    }

    /// Returns the directory of the requests of operators to the run: `.autonoe/requests`.
    pub fn requests_dir(&self) -> PathBuf {
        self.state_dir().join("requests")
    }

    /// Returns the path of the file in which the process of a run describes its current activity:
    /// `.autonoe/live.json`.
    pub fn live_path(&self) -> PathBuf {
        self.state_dir().join("live.json")
    }

    /// Creates the folder of Autonoe's own files if it is missing, and checks that it is writable.
    ///
    /// It also writes `.autonoe/.gitignore` if there is none, so that Git does not track or remove
    /// the state of runs.
    ///
    /// # Errors
    ///
    /// It is a symlink or not a folder, a file that is written in it is a symlink or not a regular
    /// file, or it cannot be created or written to.
    pub fn ensure_state_dir(&self) -> Result<PathBuf, ProjectError> {
        let dir = self.state_dir();
        if !exists_no_follow(&dir) {
            match fs::create_dir(&dir) {
                // Another process may have been faster.
                Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(ProjectError::unwritable(&dir, source));
                }
                _ => {}
            }
            // Without this, a power cut may lose the folder with everything that is synced in it.
            sync_folder(self.root())
                .map_err(|source| ProjectError::unwritable(self.root(), source))?;
        }
        self.check_state_dir()?;
        let probe = self.write_lock_path();
        match open_file_to_append(&probe) {
            Ok(_) => {}
            Err(source) if exists_no_follow(&probe) => {
                return Err(ProjectError::unwritable(&probe, source));
            }
            Err(source) => return Err(ProjectError::unwritable(&dir, source)),
        }
        write_git_ignore(&dir)?;
        Ok(dir)
    }

    /// Checks that the state folder is a folder, and that the files that are written in it are
    /// regular files.
    pub(super) fn check_state_dir(&self) -> Result<(), ProjectError> {
        let dir = self.state_dir();
        for path in [dir.clone(), self.conversations_dir(), self.requests_dir()] {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => {}
                // Behind a symlink, the guard of this folder would watch the wrong place.
                Ok(found) => {
                    let found = FileKind::from_file_type(found.file_type());
                    return Err(ProjectError::NotAFolder { path, found });
                }
                Err(source) if source.kind() == io::ErrorKind::NotFound && path != dir => {}
                Err(source) => return Err(ProjectError::unreadable(&dir, source)),
            }
        }
        for path in self.written_files() {
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => {}
                // Writing through a symlink writes elsewhere, and opening a pipe blocks.
                Ok(found) => {
                    let found = FileKind::from_file_type(found.file_type());
                    return Err(ProjectError::NotAFile { path, found });
                }
                Err(source) if source.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(ProjectError::unreadable(&dir, source)),
            }
        }
        Ok(())
    }

    /// Returns the files in the state folder that are appended to, and not replaced.
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

    /// Returns the path of the lock for writers of the ledger: `.autonoe/status.lock`.
    fn write_lock_path(&self) -> PathBuf {
        self.state_dir().join("status.lock")
    }
}

/// Returns whether there is anything at `path`, even a broken symlink.
pub(super) fn exists_no_follow(path: &Path) -> bool {
    !matches!(fs::symlink_metadata(path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

impl Project {
    /// Checks whether a run could write here, and leaves nothing behind.
    ///
    /// It creates a file in the project directory, and in `.autonoe` if it exists, and removes it
    /// again: owners and permissions do not show that a file system is read-only or full. Files
    /// that a run appends to are opened and left unchanged.
    ///
    /// ```
    /// use autonoe_core::Project;
    ///
    /// # let dir = tempfile::tempdir()?;
    /// # let working_dir = dir.path();
    /// let project = Project::find(working_dir, None)?;
    ///
    /// project.check_writable()?;
    ///
    /// assert_eq!(std::fs::read_dir(working_dir)?.count(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// One of the folders cannot be written to, or `.autonoe` is not a folder, or a file in it is
    /// not a regular file.
    pub fn check_writable(&self) -> Result<(), ProjectError> {
        write_test_file(self.root())?;
        let state_dir = self.state_dir();
        // A run creates it if it is missing, which needs no more than creating a file.
        if !exists_no_follow(&state_dir) {
            return Ok(());
        }
        self.check_state_dir()?;
        for path in self
            .appended_files()
            .iter()
            .filter(|path| exists_no_follow(path))
        {
            open_file_to_append(path).map_err(|source| ProjectError::unwritable(path, source))?;
        }
        write_test_file(&state_dir)
    }
}

/// Creates a new file, writes to it and removes it.
fn write_test_file(folder: &Path) -> Result<(), ProjectError> {
    let unwritable = |source| ProjectError::unwritable(folder, source);
    let (path, mut file) = new_file_in(folder).map_err(unwritable)?;
    // Synced, because some file systems only then find out that they are full.
    let written = file
        .write_all(b"Autonoe created this file to check that it can write here.\n")
        .and_then(|()| file.sync_all());
    drop(file);
    let removed = fs::remove_file(&path);
    written.and(removed).map_err(unwritable)
}

/// Creates a file with an unused name, so that no existing file is touched.
fn new_file_in(folder: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let mut exists_error = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..16 {
        let path = folder.join(format!(".autonoe-try-{process}-{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => exists_error = error,
            Err(error) => return Err(error),
        }
    }
    Err(exists_error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writability_check_leaves_existing_files_unchanged() {
        let dir = tempfile::tempdir().expect("a folder");
        let process = std::process::id();
        let used_path = dir.path().join(format!(".autonoe-try-{process}-0"));
        fs::write(&used_path, "somebody's").expect("writable");

        let tried = write_test_file(dir.path());

        assert!(tried.is_ok(), "{tried:?}");
        assert_eq!(fs::read_to_string(used_path).expect("there"), "somebody's");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
    }
}
