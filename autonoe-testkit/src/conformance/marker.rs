//! A path at which nothing is, for calls that would change that.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::checks::Finding;

/// A path at which nothing is, and at which nothing is to appear.
pub(super) struct Marker(PathBuf);

impl Marker {
    /// Picks a path in `directory`; no other marker has it.
    pub(super) fn in_dir(directory: &Path) -> Self {
        static PICKED: AtomicU32 = AtomicU32::new(0);
        let number = PICKED.fetch_add(1, Ordering::Relaxed);
        Self(directory.join(format!(
            "autonoe-conformance-{}-{number}",
            std::process::id()
        )))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns a command that would leave something there.
    pub(super) fn touch(&self) -> String {
        format!("touch '{}'", self.0.display())
    }

    /// Looks that nothing has appeared, and removes what has.
    pub(super) fn is_absent(&self) -> Finding {
        let removed = std::fs::remove_file(&self.0);
        ensure!(
            removed.is_err(),
            "a call was carried out: it made {:?}",
            self.0
        );
        Ok(())
    }
}
