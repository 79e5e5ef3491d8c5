//! Temporary project and environment of the measured programs.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use autonoe_process::Marker;
use tempfile::TempDir;

/// Environment variable that every process started in a place inherits.
pub(crate) const MARKER: &str = "AUTONOE_BENCH_PLACE";

/// An empty project, a home, and a folder for session files.
pub(crate) struct Workspace {
    _folders: TempDir,
    pub(crate) folder: PathBuf,
}

impl Workspace {
    /// Creates the folder outside `/tmp`, because a sandbox has its own `/tmp`.
    pub(crate) fn new() -> Self {
        let folders = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let folder = folders.path().canonicalize().expect("it is there");
        for name in ["home/.gemini", "tmp", "project"] {
            fs::create_dir_all(folder.join(name)).expect("it can be made");
        }
        Self {
            _folders: folders,
            folder,
        }
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    pub(crate) fn marker(&self) -> Marker {
        marker(&self.folder.to_string_lossy())
    }

    /// Returns the base environment of programs, extended by these variables.
    pub(crate) fn environment(&self, others: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let own = [
            ("PATH".into(), path),
            ("HOME".into(), self.home().into()),
            (MARKER.into(), self.folder.clone().into()),
        ];
        let others = others
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        own.into_iter().chain(others).collect()
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.marker().kill_all(Duration::from_secs(10));
    }
}

/// Returns the marker of all processes started in a place.
pub(crate) fn marker(place: &str) -> Marker {
    Marker::new(MARKER, place).expect("it can be one")
}
