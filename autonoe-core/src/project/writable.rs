//! Whether a project can be written to.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::layout::is_there;
use super::{Project, ProjectError, open_file_to_append};

impl Project {
    /// Looks whether a run could write here, and leaves nothing behind.
    ///
    /// A file is made in the project directory, and in `.autonoe` if there is
    /// one, and removed again: owners and permissions do not tell of a file
    /// system that is read-only or full. What a run goes on writing is opened
    /// and left as it is.
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
    /// One of the folders cannot be written to, or something else stands in
    /// the place of `.autonoe` or of a file in it.
    pub fn check_writable(&self) -> Result<(), ProjectError> {
        try_a_file_in(self.root())?;
        let state_dir = self.state_dir();
        // A run makes it where it is missing, which asks for no more than a file does.
        if !is_there(&state_dir) {
            return Ok(());
        }
        self.check_state_dir()?;
        for path in self.appended_files().iter().filter(|path| is_there(path)) {
            open_file_to_append(path).map_err(|source| ProjectError::unwritable(path, source))?;
        }
        try_a_file_in(&state_dir)
    }
}

/// Makes a file that was not there, writes to it and removes it.
fn try_a_file_in(folder: &Path) -> Result<(), ProjectError> {
    let unwritable = |source| ProjectError::unwritable(folder, source);
    let (path, mut file) = new_file_in(folder).map_err(unwritable)?;
    // Synced, for some file systems find out only then that they are full.
    let written = file
        .write_all(b"Autonoe tried whether it can write here.\n")
        .and_then(|()| file.sync_all());
    drop(file);
    let removed = fs::remove_file(&path);
    written.and(removed).map_err(unwritable)
}

/// Makes a file under a name that nobody has, so that nothing of anybody is touched.
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

        let tried = try_a_file_in(dir.path());

        assert!(tried.is_ok(), "{tried:?}");
        assert_eq!(fs::read_to_string(taken).expect("there"), "somebody's");
        assert_eq!(fs::read_dir(dir.path()).expect("readable").count(), 1);
    }
}
