//! [`StateTemplate`], the empty databases that Codex creates at its first start.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use autonoe_backend::ProgramFile;
use autonoe_core::project::write_new_file;

/// Maximum size of all files in bytes. The empty databases of 0.166.0 have less than a tenth.
const MAX_SIZE: u64 = 8 * 1024 * 1024;

/// The files of an empty state folder, which one build of the program created without an agent.
///
/// Creating the databases takes half of the start of a session, so each session gets a copy. The
/// files are in memory, where no agent can change them. Nothing is copied out of a session. Clones
/// share the files.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateTemplate(Arc<Mutex<Option<Files>>>);

#[derive(Debug)]
struct Files {
    /// The program that created them. Another build can use another format.
    program: ProgramFile,
    contents: BTreeMap<OsString, Vec<u8>>,
}

impl StateTemplate {
    /// Returns whether there is a template of `program`.
    pub(crate) fn is_ready(&self, program: &Path) -> bool {
        self.with_files(program, |files| files.is_some())
    }

    /// Reads the databases in `folder`, which `program` has just created there.
    ///
    /// # Errors
    ///
    /// A file cannot be read, or the files are too large.
    pub(crate) fn read(&self, program: &Path, folder: &Path) -> io::Result<()> {
        let Some(program) = ProgramFile::read(program) else {
            return Ok(());
        };
        let mut contents = BTreeMap::new();
        let mut size = 0;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if !is_database(&name.to_string_lossy()) || !entry.file_type()?.is_file() {
                continue;
            }
            size += entry.metadata()?.len();
            if size > MAX_SIZE {
                return Err(io::Error::other("the databases are too large"));
            }
            contents.insert(name, fs::read(entry.path())?);
        }
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *files = Some(Files { program, contents });
        Ok(())
    }

    /// Writes the databases to the empty `folder`, if there is a template of `program`.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub(crate) fn write(&self, program: &Path, folder: &Path) -> io::Result<()> {
        self.with_files(program, |files| {
            for (name, content) in files.into_iter().flat_map(|files| &files.contents) {
                write_new_file(&folder.join(name), content)?;
            }
            Ok(())
        })
    }

    fn with_files<T>(&self, program: &Path, use_files: impl FnOnce(Option<&Files>) -> T) -> T {
        let current = ProgramFile::read(program);
        let guard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = |files: &&Files| Some(&files.program) == current.as_ref();
        use_files(guard.as_ref().filter(is_current))
    }
}

/// Returns whether `name` is a database, or the log of its last changes. The index of that log is
/// rebuilt from it.
fn is_database(name: &str) -> bool {
    name.ends_with(".sqlite") || name.ends_with(".sqlite-wal")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_copied_for_the_program_that_created_them() {
        let root = tempfile::tempdir().expect("a folder");
        let (program, other) = (root.path().join("codex"), root.path().join("other"));
        for file in [&program, &other] {
            fs::write(file, "").expect("writable");
        }
        let created = root.path().join("created");
        fs::create_dir(&created).expect("writable");
        for name in [
            "state_5.sqlite",
            "state_5.sqlite-wal",
            "state_5.sqlite-shm",
            "log",
        ] {
            fs::write(created.join(name), name).expect("writable");
        }
        let template = StateTemplate::default();
        let copies = |program: &Path| {
            let folder = tempfile::tempdir().expect("a folder");
            template.write(program, folder.path()).expect("writable");
            let entries = fs::read_dir(folder.path()).expect("it is there").flatten();
            let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
            names.sort();
            names
        };
        assert!(!template.is_ready(&program));
        assert!(copies(&program).is_empty());

        template.read(&program, &created).expect("readable");

        assert!(template.clone().is_ready(&program));
        assert_eq!(copies(&program), ["state_5.sqlite", "state_5.sqlite-wal"]);
        assert!(copies(&other).is_empty(), "another program");
        fs::remove_file(&program).expect("writable");
        fs::write(&program, "a new build").expect("writable");
        assert!(copies(&program).is_empty(), "another build");
    }

    #[test]
    fn databases_that_are_too_large_are_not_copied() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = fs::File::create(folder.path().join("a.sqlite")).expect("writable");
        file.set_len(MAX_SIZE + 1).expect("writable");
        let template = StateTemplate::default();
        let program = std::env::current_exe().expect("there is one");

        assert!(template.read(&program, folder.path()).is_err());
        assert!(!template.is_ready(&program));
    }
}
