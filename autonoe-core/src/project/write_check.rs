//! Checks whether a run could write to a project.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::layout::exists_no_follow;
use super::{Project, ProjectError, open_file_to_append};

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
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for number in 0..16 {
        let path = folder.join(format!(".autonoe-try-{process}-{number}"));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
        }
    }
    Err(taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_left_alone() {
        let dir = tempfile::tempdir().expect("a folder");
        let process = std::process::id();
        let taken = dir.path().join(format!(".autonoe-try-{process}-0"));
        fs::write(&taken, "somebody's").expect("writable");

        let tried = write_test_file(dir.path());

        assert!(tried.is_ok(), "{tried:?}");
        assert_eq!(fs::read_to_string(taken).expect("there"), "somebody's");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
    }
}
