//! `Project`, a temporary project for tests.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

/// A project with a `SPEC.md`, and a folder around it for scripts.
pub(crate) struct Project {
    folder: TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        fs::create_dir(folder.path().join("project")).expect("writable");
        fs::create_dir(folder.path().join("home")).expect("writable");
        let project = Self { folder };
        project.write("SPEC.md", "# A shop\n\nUsers can log in.\n");
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Returns the path of a file next to the project.
    pub(crate) fn sibling_path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        let parent = path.parent().expect("it has one");
        fs::create_dir_all(parent).expect("writable");
        fs::write(path, text).expect("writable");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("readable")
    }

    /// Reads the ledger, if it exists.
    pub(crate) fn ledger(&self) -> Option<Value> {
        let text = fs::read(self.path(".autonoe/status.json")).ok()?;
        Some(serde_json::from_slice(&text).expect("JSON"))
    }

    /// Writes a ledger with deliverables: ID, passed and blocked.
    pub(crate) fn write_ledger(&self, deliverables: &[(&str, bool, bool)]) {
        let deliverables: Vec<Value> = deliverables
            .iter()
            .map(|(id, passed, blocked)| {
                serde_json::json!({
                    "id": id, "description": format!("The thing {id}"),
                    "acceptanceCriteria": ["it is there"], "passed": passed, "blocked": blocked,
                })
            })
            .collect();
        let ledger = serde_json::json!({
            "createdAt": "2026-01-31", "updatedAt": "2026-01-31", "deliverables": deliverables,
        });
        self.write(".autonoe/status.json", &ledger.to_string());
    }
}
