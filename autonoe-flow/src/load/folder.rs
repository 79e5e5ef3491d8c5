//! [`FlowFolder`]: reads files inside of one folder only; [`PromptFiles`]: the source of prompts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use autonoe_core::project::{TextFileError, read_text_file};

use crate::error::{FlowError, FlowErrorKind};

/// Maximum size of a file. A larger prompt or definition is most likely the wrong file.
const LARGEST: u64 = 1024 * 1024;

/// A folder whose files can be read, and no file outside of it.
#[derive(Clone, Debug)]
pub(crate) struct FlowFolder {
    /// Canonical, so that other paths can be compared with it.
    root: PathBuf,
}

/// Error of reading a file in the folder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// The path leaves the folder, by itself or through a symlink.
    #[error("{0:?} is outside the folder of the flow")]
    Outside(PathBuf),
    /// The file is unusable.
    #[error(transparent)]
    File(#[from] TextFileError),
    /// The operating system refused access.
    #[error("cannot read {0:?}")]
    Refused(PathBuf, #[source] io::Error),
}

impl FlowFolder {
    /// Opens the folder at `dir`.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let root = dir.canonicalize()?;
        if root.is_dir() {
            Ok(Self { root })
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Returns the canonical path of the folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the text of the file at `path`, relative to the folder, or `None` if it does not
    /// exist.
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
            // A dangling symlink is reported as such, and not followed further.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return if joined.is_symlink() {
                    Ok(read_text_file(&joined, LARGEST)?)
                } else {
                    Ok(None)
                };
            }
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(None),
            Err(error) => return Err(FolderError::Refused(path.to_owned(), error)),
        };
        if real.starts_with(&self.root) {
            Ok(read_text_file(&real, LARGEST)?)
        } else {
            Err(FolderError::Outside(path.to_owned()))
        }
    }
}

/// The source of prompt files.
#[derive(Clone, Debug)]
pub(crate) enum PromptFiles {
    Folder(FlowFolder),
    Memory(BTreeMap<PathBuf, String>),
}

impl PromptFiles {
    /// Returns the text of a prompt, or `None` if it does not exist.
    pub(crate) fn read(&self, path: &Path) -> Result<Option<String>, FlowError> {
        match self {
            Self::Memory(files) => Ok(files.get(path).cloned()),
            Self::Folder(folder) => folder.read(path).map_err(|error| {
                let message = format!("cannot use the prompt {}", path.display());
                FlowError::new(FlowErrorKind::PromptParse, message).with_cause(error)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn reads_a_file_in_the_folder_and_returns_none_if_missing() {
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

            let is_outside = matches!(refused, Err(FolderError::Outside(_)));
            assert!(is_outside, "{path}: {refused:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_can_point_inside_the_folder_but_not_outside() {
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
        // The folder itself may be reached through a symlink.
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
