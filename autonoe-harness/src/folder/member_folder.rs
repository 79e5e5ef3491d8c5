//! Path, ID and errors of a member's folder.

use std::path::{Path, PathBuf};
use std::{fs, io};

use autonoe_core::event::{Failure, InvalidValue};
#[cfg(feature = "sqlite")]
use autonoe_core::project::remove_folder;
use autonoe_process::Marker;
use sha2::{Digest, Sha256};

use crate::strategy::MemberId;

/// The folder of a member, `ROOT/ID`, where `ROOT` is the `.harness` folder of a project.
///
/// | file | content | writer |
/// | --- | --- | --- |
/// | `order.json` | the run of the member | the submitter, once |
/// | `work.jsonl` | the journal: the source of truth, from which the next three are derived | the member, and the process that ends it |
/// | `outcome.json` | the outcome | the first process that knows it, once |
/// | `status.json` | the status | the member |
/// | `harness.log` | log lines for people | the member |
/// | `inbox/` | instructions that no agent has received | any process |
/// | `taken/` | instructions that an agent has received | the member |
/// | `pause`, `stop` | a pause request; a stop request with its reason | any process |
/// | `alerts.log` | alerts as JSON lines | the member |
/// | `conversations/` | conversations of its agents, until it ends | the backends |
///
/// ```
/// use autonoe_core::engine::RunSpec;
/// use autonoe_core::RunId;
/// use autonoe_harness::folder::{MemberStatus, MemberFolder};
/// use autonoe_harness::strategy::MemberId;
/// use serde_json::json;
///
/// # let dir = tempfile::tempdir()?;
/// let root = dir.path().join(".harness");
/// let folder = MemberFolder::new(&root, &MemberId::new("login-page"))?;
/// let order = RunSpec::new(RunId::new("login-page"), "work", json!({"tasks": ["T-001"]}));
///
/// folder.submit(&order)?;
/// let number = folder.post("Use Postgres.", jiff::Timestamp::now())?;
///
/// assert_eq!(folder.view()?.status, MemberStatus::Pending);
/// assert_eq!(number, 1);
/// assert!(MemberFolder::new(&root, &MemberId::new("../elsewhere")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberFolder {
    id: MemberId,
    path: PathBuf,
}

/// Maximum length of an ID: file names are limited to 255 bytes.
const LONGEST: usize = 128;

/// Names of other folders next to those of members.
const RESERVED: [&str; 2] = ["shared", "worktrees"];

/// Environment variable that marks the processes started by a member.
const MARKER: &str = "AUTONOE_HARNESS";

impl MemberFolder {
    /// Returns the folder of the member `id` in `root`, without accessing the disk.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`]: an ID may contain letters, digits, `-`, `_` and `.` only, must not
    /// begin with a dot, must not be empty or longer than 128 bytes, and must not be `shared` or
    /// `worktrees`.
    pub fn new(root: &Path, id: &MemberId) -> Result<Self, FolderError> {
        if let Some(reason) = id_problem(id.as_str()) {
            let id = id.as_str().to_owned();
            return Err(FolderError::Id { id, reason });
        }
        let (id, path) = (id.clone(), root.join(id.as_str()));
        Ok(Self { id, path })
    }

    /// Returns `path` as the folder of a member, whose ID is the name of the folder.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`].
    pub fn from_path(path: &Path) -> Result<Self, FolderError> {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let id = MemberId::new(name.unwrap_or_default());
        Self::new(path.parent().unwrap_or(Path::new("")), &id)
    }

    /// Lists the members in `root`, sorted by ID.
    ///
    /// # Errors
    ///
    /// `root` exists and cannot be read.
    pub fn list(root: &Path) -> Result<Vec<Self>, FolderError> {
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(FolderError::unreadable(root, source)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| FolderError::unreadable(root, source))?;
            // A folder without an order is not a member.
            let folder = Self::from_path(&entry.path()).ok();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            found.extend(folder.filter(|it| is_folder && it.file("order.json").exists()));
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    /// Returns the ID of the member.
    pub fn id(&self) -> &MemberId {
        &self.id
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folder in which backends store the conversations of the member until it ends:
    /// `conversations`.
    pub fn conversations(&self) -> PathBuf {
        self.file("conversations")
    }

    /// Deletes the conversations of the member, once nothing continues them any more.
    #[cfg(feature = "sqlite")]
    pub(crate) fn remove_conversations(&self) {
        let path = self.conversations();
        if let Err(error) = remove_folder(&path) {
            tracing::warn!(%error, path = %path.display(), "cannot delete the conversations");
        }
    }

    /// Returns the marker of the process of the member and all of its descendants. It is the same
    /// for each process that serves the folder. A task that serves the folder inside of a larger
    /// process has no marker.
    ///
    /// # Errors
    ///
    /// The folder does not exist.
    pub fn marker(&self) -> Result<Marker, FolderError> {
        // The canonical path is unique on the machine.
        let unreadable = |source| FolderError::unreadable(&self.path, source);
        let path = self.path.canonicalize().map_err(unreadable)?;
        let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
        let digest = digest.iter().take(12).map(|byte| format!("{byte:02x}"));
        let value = digest.collect::<String>();
        Marker::new(MARKER, value).map_err(|error| unreadable(io::Error::other(error)))
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

fn id_problem(id: &str) -> Option<&'static str> {
    let may_be_in = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    match id {
        "" => Some("it is empty"),
        _ if id.len() > LONGEST => Some("it is too long for a folder name"),
        _ if id.starts_with('.') => Some("it starts with a dot"),
        _ if !id.chars().all(may_be_in) => {
            Some("it may only contain letters, digits, `-`, `_` and `.`")
        }
        _ if RESERVED.contains(&id) => Some("the folder name is reserved"),
        _ => None,
    }
}

/// Error of a member folder. Existing files are left unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The ID cannot be the name of a folder.
    #[error("{id:?} is not a valid member id: {reason}")]
    Id {
        /// The ID.
        id: String,
        /// The problem with it.
        reason: &'static str,
    },
    /// There is no member.
    #[error("there is no member in {path:?}")]
    NoOrder {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read {path:?}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path:?}")]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A file has invalid content.
    #[error("{path:?} is corrupt and was left unchanged: {reason}")]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// A file has another format version than this program reads.
    #[error(
        "{path:?} has version {found}, and this program reads version {known}; \
         use the version of Autonoe that wrote it"
    )]
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this program reads.
        known: u32,
    },
    /// A value that no server of a folder can work with.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// Another process serves the folder, or is about to.
    #[error("{path:?} is held by another process")]
    Held {
        /// The lock file.
        path: PathBuf,
    },
}

impl FolderError {
    /// Returns a stable code of the error, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Id { .. } => "bad_id",
            Self::NoOrder { .. } => "no_such_member",
            Self::Unreadable { .. } => "unreadable",
            Self::Unwritable { .. } => "unwritable",
            Self::Corrupt { .. } => "corrupt",
            Self::OtherVersion { .. } => "other_version",
            Self::InvalidValue(_) => InvalidValue::CODE,
            Self::Held { .. } => "held",
        }
    }

    /// Converts the error, with its cause, to a permanent failure.
    pub(crate) fn failure(&self, code: &str) -> Failure {
        let message = match self {
            Self::Unreadable { source, .. } | Self::Unwritable { source, .. } => {
                format!("{self}: {source}")
            }
            error => error.to_string(),
        };
        Failure::permanent(code, message)
    }

    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unreadable { path, source }
    }

    pub(crate) fn unwritable(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        Self::Unwritable { path, source }
    }

    pub(crate) fn corrupt(path: &Path, reason: impl Into<String>) -> Self {
        Self::Corrupt {
            path: path.to_owned(),
            reason: reason.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn folder(id: &str) -> Result<MemberFolder, FolderError> {
        MemberFolder::new(Path::new("/project/.harness"), &MemberId::new(id))
    }

    #[test]
    fn an_id_that_would_leave_the_folder_is_refused() {
        for id in [
            "",
            ".",
            "..",
            "../x",
            "/etc",
            "a/b",
            "a/../../b",
            "a\\b",
            "a\0b",
            "a\n",
            " a",
            ".hidden",
            "shared",
            "worktrees",
            "~",
            &"a".repeat(129),
        ] {
            let refused = folder(id);
            assert!(matches!(refused, Err(FolderError::Id { .. })), "{id:?}");
        }
    }

    #[test]
    fn usual_ids_are_folders() {
        for id in ["a", "login-page", "T-001.2", "6f1c9a02-1_b", "文書"] {
            let folder = folder(id).expect("a usual id");
            assert_eq!(folder.path(), Path::new("/project/.harness").join(id));
            assert_eq!(
                MemberFolder::from_path(folder.path()).expect("the same"),
                folder
            );
        }
    }

    proptest! {
        #[test]
        fn every_folder_is_right_below_its_root(id in any::<String>()) {
            if let Ok(folder) = folder(&id) {
                let path = folder.path();
                prop_assert_eq!(path.parent(), Some(Path::new("/project/.harness")));
                prop_assert_eq!(path.components().count(), 4);
            }
        }
    }
}
