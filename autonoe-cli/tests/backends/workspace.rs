//! [`TempWorkspace`], a temporary project and the processes started in it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use autonoe_core::Project;
use autonoe_process::Marker;
use serde_json::json;
use tempfile::TempDir;

/// Time limit for anything, on a busy machine.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(600);

/// A variable that every process of a run here inherits.
const MARKER: &str = "AUTONOE_TEST_PLACE";

/// A project with a specification and without the built-in browser, a home, and a folder for
/// session files.
pub(crate) struct TempWorkspace {
    _folders: TempDir,
    folder: PathBuf,
}

impl TempWorkspace {
    /// Not in `/tmp`, because a sandbox has its own.
    pub(crate) fn new() -> Self {
        let folders = tempfile::tempdir_in("/var/tmp").expect("a folder can be made");
        let folder = folders.path().canonicalize().expect("it is there");
        for name in ["home", "tmp", "project/.autonoe"] {
            fs::create_dir_all(folder.join(name)).expect("it can be made");
        }
        let place = Self {
            _folders: folders,
            folder,
        };
        let settings = json!({"mcpServers": {}}).to_string();
        for (file, text) in [
            ("SPEC.md", "# Small files\n\nEach says what it is for.\n"),
            (".autonoe/agent.json", &settings),
        ] {
            place.write(file, text);
        }
        place
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.root().join(name), text).expect("it can be written");
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.join("project")
    }

    pub(crate) fn project(&self) -> Project {
        Project::find(&self.root(), None).expect("it is one")
    }

    /// Returns the folder for session files.
    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Returns the basic environment of programs, with these additional variables.
    pub(crate) fn environment<const N: usize>(
        &self,
        others: [(&str, String); N],
    ) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = [
            ("PATH".into(), path),
            ("HOME".into(), self.folder.join("home").into()),
            (MARKER.into(), self.folder.clone().into()),
        ];
        let others = others.map(|(name, value)| (name.into(), value.into()));
        own.into_iter().chain(others).collect()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let path = self.root().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Returns the files of the project with their contents, and only the names of the files of
    /// Autonoe, whose journal contains times and costs.
    ///
    /// Folders are left out, because a sandbox of Claude Code leaves an empty one.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.root(), &self.root(), &mut files);
        for (name, text) in &mut files {
            if name.starts_with(".autonoe/") {
                text.clear();
            }
        }
        files
    }

    /// Panics if a process or a folder of a session is left.
    pub(crate) fn assert_nothing_is_left(&self) {
        assert_eq!(self.marker().processes(), []);
        let mut left = BTreeMap::new();
        collect(&self.temporary(), &self.temporary(), &mut left);
        assert_eq!(left, BTreeMap::new());
    }

    fn marker(&self) -> Marker {
        Marker::new(MARKER, self.folder.to_string_lossy()).expect("it can be one")
    }
}

impl Drop for TempWorkspace {
    /// Kills the processes that a failed test left running.
    fn drop(&mut self) {
        self.marker().kill_all(TIMEOUT);
    }
}

fn collect(folder: &Path, root: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("it can be read").path();
        if path.is_dir() {
            collect(&path, root, files);
        } else {
            let name = path.strip_prefix(root).expect("it is inside").display();
            let text = fs::read_to_string(&path).expect("it is text");
            files.insert(name.to_string(), text);
        }
    }
}
