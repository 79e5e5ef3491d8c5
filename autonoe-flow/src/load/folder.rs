//! Reads files of one folder, and none outside of it.

use std::io;
use std::path::{Component, Path, PathBuf};

use autonoe_core::{TextFileError, read_text_file};

/// The largest file that is read. A prompt or a definition of a megabyte is a wrong file.
const LARGEST: u64 = 1024 * 1024;

/// A folder whose files are read, and none outside of it.
#[derive(Clone, Debug)]
pub(crate) struct FlowFolder {
    /// Without symlinks, so that it can be compared.
    root: PathBuf,
}

/// Why a file in the folder could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// The path leads out of the folder, itself or through a symlink.
    #[error("{0:?} leads out of the folder of the flow")]
    Outside(PathBuf),
    /// The file cannot be used.
    #[error(transparent)]
    File(#[from] TextFileError),
    /// The system refused.
    #[error("{0:?} cannot be read")]
    Refused(PathBuf, #[source] io::Error),
}

impl FlowFolder {
    /// Opens the folder at `dir`.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let root = dir.canonicalize()?;
        match root.is_dir() {
            true => Ok(Self { root }),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Returns the folder, without symlinks.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the text of the file at `path`, from the folder, or `None` if there is nothing.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<String>, FolderError> {
        let is_inside = path
            .components()
            .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if !is_inside {
            return Err(FolderError::Outside(path.to_owned()));
        }
        let joined = self.root.join(path);
        let real = match joined.canonicalize() {
            Ok(real) => real,
            // A symlink that leads nowhere is told as such, and not followed further.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return match joined.is_symlink() {
                    true => Ok(read_text_file(&joined, LARGEST)?),
                    false => Ok(None),
                };
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(FolderError::Refused(path.to_owned(), error)),
        };
        match real.starts_with(&self.root) {
            true => Ok(read_text_file(&real, LARGEST)?),
            false => Err(FolderError::Outside(path.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_file_inside_is_read_and_nothing_is_none() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("prompts")).expect("writable");
        fs::write(dir.path().join("prompts/a.md"), "text").expect("writable");
        let folder = FlowFolder::open(dir.path()).expect("it is there");

        let read = folder.read(Path::new("./prompts/a.md")).expect("readable");
        let nothing = folder.read(Path::new("prompts/b.md")).expect("nothing");
        let below_a_file = folder.read(Path::new("prompts/a.md/b")).expect("nothing");

        assert_eq!(read.as_deref(), Some("text"));
        assert_eq!((nothing, below_a_file), (None, None));
    }

    #[test]
    fn a_path_upwards_or_from_the_root_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = FlowFolder::open(dir.path()).expect("it is there");

        for path in ["../x", "a/../../x", "/etc/passwd", "a/.."] {
            let refused = folder.read(Path::new(path));

            let is_told = matches!(refused, Err(FolderError::Outside(_)));
            assert!(is_told, "{path}: {refused:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_may_lead_around_inside_and_never_outside() {
        use std::os::unix::fs::symlink;

        let outer = tempfile::tempdir().expect("a folder");
        fs::write(outer.path().join("secret"), "secret").expect("writable");
        let dir = outer.path().join("flow");
        fs::create_dir(&dir).expect("writable");
        fs::write(dir.join("a.md"), "text").expect("writable");
        symlink("a.md", dir.join("inside.md")).expect("writable");
        symlink("../secret", dir.join("outside.md")).expect("writable");
        symlink("..", dir.join("up")).expect("writable");
        symlink("gone", dir.join("broken.md")).expect("writable");
        // The folder itself may be reached through one.
        symlink(&dir, outer.path().join("link")).expect("writable");
        let folder = FlowFolder::open(&outer.path().join("link")).expect("it is there");

        let inside = folder.read(Path::new("inside.md")).expect("readable");
        let outside = folder.read(Path::new("outside.md"));
        let parent = folder.read(Path::new("up/secret"));
        let broken = folder.read(Path::new("broken.md"));

        assert_eq!(inside.as_deref(), Some("text"));
        assert!(matches!(outside, Err(FolderError::Outside(_))));
        assert!(matches!(parent, Err(FolderError::Outside(_))));
        assert!(matches!(broken, Err(FolderError::File(_))), "{broken:?}");
    }
}
