//! Files that members share, stored by the hash of their content.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use autonoe_core::project::{create_folder, replace_file_durably};
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::state::StateError;
use crate::strategy::MemberId;

/// A file that a member published for others.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Artifact {
    /// Its name.
    pub name: ArtifactName,
    /// The number of the publication. It increases with each publication of any name.
    pub version: u64,
    /// The member that published it.
    pub source_member: MemberId,
    /// The path. Its content never changes, even if another file is published under the name.
    pub path: PathBuf,
    /// The SHA-256 of its content, in hexadecimal digits.
    pub sha256: String,
    /// Metadata from the publisher.
    pub metadata: Value,
    /// The time of publication.
    pub created_at: Timestamp,
}

/// Returns the path of an artifact with this name and content.
pub(super) fn path_of(folder: &Path, sha256: &str, name: &ArtifactName) -> PathBuf {
    folder.join(sha256).join(name.as_str())
}

/// Copies the file at `source` into `folder`, durably, and returns its hash.
pub(super) fn copy_in(
    folder: &Path,
    name: &ArtifactName,
    source: &Path,
) -> Result<String, SharedError> {
    let bytes = read_plain(source)?;
    let sha256 = hash(&bytes);
    let path = path_of(folder, &sha256, name);
    let written = create_folder(folder)
        .and_then(|()| create_folder(&folder.join(&sha256)))
        .and_then(|()| replace_file_durably(&path, &bytes))
        .and_then(|()| File::open(folder)?.sync_all());
    written.map_err(|error| failed(&path, "cannot write it", error))?;
    Ok(sha256)
}

/// Returns whether the file at `path` has the content that was published.
pub(super) fn is_unchanged(path: &Path, sha256: &str) -> Result<bool, SharedError> {
    Ok(hash(&read_plain(path)?) == sha256)
}

/// Reads a file. Refuses a symlink, which may point anywhere, and anything else that is not a
/// regular file.
fn read_plain(path: &Path) -> Result<Vec<u8>, SharedError> {
    let unread = |error| failed(path, "cannot read it", error);
    let not_a_file = || SharedError::NotAFile(path.to_owned());
    // Before it is opened: opening a pipe blocks until there is a writer.
    let seen = fs::symlink_metadata(path).map_err(unread)?;
    if !seen.is_file() {
        return Err(not_a_file());
    }
    let mut file = File::open(path).map_err(unread)?;
    let opened = file.metadata().map_err(unread)?;
    if (seen.dev(), seen.ino()) != (opened.dev(), opened.ino()) {
        return Err(not_a_file());
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(unread)?;
    Ok(bytes)
}

fn hash(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn failed(path: &Path, doing: &'static str, source: io::Error) -> SharedError {
    SharedError::State(StateError::Failed {
        path: path.to_owned(),
        doing,
        source: source.into(),
    })
}

/// Maximum length of a name that file systems accept.
const LONGEST: usize = 200;

/// Name of a shared file, for example `report.json`: one plain path component, not hidden.
///
/// ```
/// use autonoe_harness::shared::ArtifactName;
///
/// assert!("report.json".parse::<ArtifactName>().is_ok());
/// assert!("../report.json".parse::<ArtifactName>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactName(String);

impl ArtifactName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ArtifactName {
    type Err = InvalidArtifactName;

    fn from_str(text: &str) -> Result<Self, InvalidArtifactName> {
        let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | ':');
        let ends_oddly = text.ends_with(['.', ' ']) || text.starts_with(['.', ' ']);
        if text.is_empty() || text.len() > LONGEST || ends_oddly || text.contains(is_odd) {
            Err(InvalidArtifactName(text.to_owned()))
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error of a text that is not an [`ArtifactName`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a valid artifact name: use a plain file name without separators, which neither \
     starts nor ends with a full stop or a space"
)]
pub struct InvalidArtifactName(String);

/// Error of the shared context.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedError {
    /// The database or a file cannot be read or written.
    #[error(transparent)]
    State(#[from] StateError),
    /// No artifact was published under the name.
    #[error("the artifact {0} does not exist")]
    Unknown(ArtifactName),
    /// A folder, a pipe or a symlink is in place of the file.
    #[error("{0:?} is not a file")]
    NotAFile(PathBuf),
    /// The content of an artifact differs from what was published.
    #[error("the artifact {name} was modified after it was published; its path is {path:?}")]
    Changed {
        /// Its name.
        name: ArtifactName,
        /// Its path.
        path: PathBuf,
    },
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    // Shows: fleets/shared/artifact-names
    #[test]
    fn a_name_that_would_leave_its_folder_is_refused() {
        for text in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "a/b",
            "a\\b",
            "../a",
            "a/..",
            "C:a",
            "a\0b",
            "a\n",
            ".hidden",
            "a.",
            " a",
            "a ",
        ] {
            assert!(text.parse::<ArtifactName>().is_err(), "{text:?}");
        }
        for text in ["a", "report.json", "a b", "\u{e9}.tar.gz"] {
            assert!(text.parse::<ArtifactName>().is_ok(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn a_name_is_one_plain_part_of_a_path(text in "[./\\\\a-c:\u{0}\u{e9} ]{0,8}") {
            if let Ok(name) = text.parse::<ArtifactName>() {
                let parts: Vec<_> = Path::new(name.as_str()).components().collect();
                prop_assert!(matches!(parts.as_slice(), [Component::Normal(_)]), "{parts:?}");
            }
        }
    }
}
