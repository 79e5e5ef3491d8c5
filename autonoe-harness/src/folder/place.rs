//! Where the folder of a sub-harness is, and what it may be called.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

#[cfg(feature = "sqlite")]
use autonoe_core::remove_folder;
use autonoe_process::Marker;
use sha2::{Digest, Sha256};

use super::FolderError;
use crate::HarnessId;

/// The folder of a sub-harness, `ROOT/ID`, where `ROOT` is the `.harness` of a coordinator.
///
/// | file | what it holds | who writes it |
/// | --- | --- | --- |
/// | `order.json` | what is to be run | whoever submits it, once |
/// | `status.json` | how it stands | the sub-harness |
/// | `outcome.json` | what it came to | the first who knows, once |
/// | `inbox/` | instructions that no agent was told | anybody |
/// | `taken/` | instructions that an agent was told | the sub-harness |
/// | `pause`, `stop` | that it is to hold, or to end and why | anybody |
/// | `harness.log`, `alerts.log` | lines for people, alerts as JSON lines | the sub-harness |
/// | `journal.jsonl` | what happened, a fact in each line | the sub-harness |
/// | `conversations/` | conversations of its agents, until it ends | the backends |
///
/// ```
/// use autonoe_core::{RunId, RunSpec};
/// use autonoe_harness::{HarnessFolder, HarnessId, HarnessStatus};
/// use serde_json::json;
///
/// # let dir = tempfile::tempdir()?;
/// let root = dir.path().join(".harness");
/// let folder = HarnessFolder::of(&root, &HarnessId::new("login-page"))?;
/// let order = RunSpec::new(RunId::new("login-page"), "work", json!({"tasks": ["T-001"]}));
///
/// folder.submit(&order)?;
/// let number = folder.post("Use Postgres.", jiff::Timestamp::now())?;
///
/// assert_eq!(folder.view()?.status, HarnessStatus::Pending);
/// assert_eq!(number, 1);
/// assert!(HarnessFolder::of(&root, &HarnessId::new("../elsewhere")).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HarnessFolder {
    id: HarnessId,
    path: PathBuf,
}

/// The longest id: the names of files are not longer than 255 bytes.
const LONGEST: usize = 128;

/// What else there is beside the folders of sub-harnesses.
const TAKEN: [&str; 2] = ["shared", "worktrees"];

/// The variable that finds what a sub-harness has started.
const MARKER: &str = "AUTONOE_HARNESS";

impl HarnessFolder {
    /// Returns the folder of the sub-harness `id` in `root`. Nothing is made or looked at.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`]: an id has letters, digits, `-`, `_` and `.` only, begins with none of
    /// the last, is neither empty nor longer than 128 bytes, and is not `shared` or `worktrees`.
    pub fn of(root: &Path, id: &HarnessId) -> Result<Self, FolderError> {
        if let Some(reason) = wrong_with(id.as_str()) {
            let id = id.as_str().to_owned();
            return Err(FolderError::Id { id, reason });
        }
        let (id, path) = (id.clone(), root.join(id.as_str()));
        Ok(Self { id, path })
    }

    /// Takes `path` as the folder of a sub-harness; its id is the name of the folder.
    ///
    /// # Errors
    ///
    /// [`FolderError::Id`].
    pub fn at(path: &Path) -> Result<Self, FolderError> {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let id = HarnessId::new(name.unwrap_or_default());
        Self::of(path.parent().unwrap_or(Path::new("")), &id)
    }

    /// Finds the sub-harnesses in `root`, in the order of their ids.
    ///
    /// # Errors
    ///
    /// `root` is there and cannot be read.
    pub fn all_in(root: &Path) -> Result<Vec<Self>, FolderError> {
        let entries = match fs::read_dir(root) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(FolderError::unreadable(root, source)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|source| FolderError::unreadable(root, source))?;
            // What has no order is no sub-harness, whatever else it is.
            let folder = Self::at(&entry.path()).ok();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            found.extend(folder.filter(|it| is_folder && it.file("order.json").exists()));
        }
        found.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(found)
    }

    /// Returns the id of the sub-harness.
    pub fn id(&self) -> &HarnessId {
        &self.id
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns where backends keep the conversations of the sub-harness until it ends:
    /// `conversations`.
    pub fn conversations(&self) -> PathBuf {
        self.file("conversations")
    }

    /// Deletes the conversations of the sub-harness, once nothing continues them any more.
    #[cfg(feature = "sqlite")]
    pub(crate) fn remove_conversations(&self) {
        let path = self.conversations();
        if let Err(error) = remove_folder(&path) {
            tracing::warn!(%error, path = %path.display(), "conversations are not deleted");
        }
    }

    /// Returns what the process of the sub-harness and all that it starts is known by, the same for
    /// each process that serves the folder. A task that serves it in a larger process has none.
    ///
    /// # Errors
    ///
    /// The folder is not there.
    pub fn marker(&self) -> Result<Marker, FolderError> {
        // The real path: nothing else on the machine has it.
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

fn wrong_with(id: &str) -> Option<&'static str> {
    let may_be_in = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    match id {
        "" => Some("it is empty"),
        _ if id.len() > LONGEST => Some("it is too long for a folder"),
        _ if id.starts_with('.') => Some("it begins with a dot"),
        _ if !id.chars().all(may_be_in) => {
            Some("only letters, digits, `-`, `_` and `.` can be in it")
        }
        _ if TAKEN.contains(&id) => Some("that folder is for something else"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(id: &str) -> Result<HarnessFolder, FolderError> {
        HarnessFolder::of(Path::new("/project/.harness"), &HarnessId::new(id))
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
            let refused = of(id);
            assert!(matches!(refused, Err(FolderError::Id { .. })), "{id:?}");
        }
    }

    #[test]
    fn usual_ids_are_folders() {
        for id in ["a", "login-page", "T-001.2", "6f1c9a02-1_b", "文書"] {
            let folder = of(id).expect("a usual id");
            assert_eq!(folder.path(), Path::new("/project/.harness").join(id));
            assert_eq!(HarnessFolder::at(folder.path()).expect("the same"), folder);
        }
    }

    proptest! {
        #[test]
        fn every_folder_is_right_below_its_root(id in any::<String>()) {
            if let Ok(folder) = of(&id) {
                let path = folder.path();
                prop_assert_eq!(path.parent(), Some(Path::new("/project/.harness")));
                prop_assert_eq!(path.components().count(), 4);
            }
        }
    }
}
