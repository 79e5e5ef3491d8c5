//! What git ignores.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::BorrowedFd;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::tools::workspace::open_regular;

/// The files that say what to ignore; of two in one directory the later counts.
const FILES: [&str; 2] = [".gitignore", ".ignore"];

/// As much of such a file is read.
const LIMIT: u64 = 1024 * 1024;

/// What is ignored, by directory from the root on.
///
/// The files are opened by us and not by the `ignore` crate: one that is a FIFO would hold it
/// up for ever, and a link would lead it out of the workspace.
#[derive(Debug, Default)]
pub(super) struct Ignored {
    rules: Vec<Gitignore>,
}

impl Ignored {
    /// Adds what the files in `directory` say, which is at `path`, and returns how to take it
    /// back.
    pub(super) fn enter(&mut self, directory: BorrowedFd<'_>, path: &Path) -> usize {
        let before = self.rules.len();
        for name in FILES {
            self.add(directory, path, OsStr::new(name));
        }
        before
    }

    /// Adds what the file `name` in `directory` says about what is below `path`.
    pub(super) fn add(&mut self, directory: BorrowedFd<'_>, path: &Path, name: &OsStr) {
        let Ok((file, _)) = open_regular(directory, name, path) else {
            return;
        };
        let mut bytes = Vec::new();
        if file.take(LIMIT).read_to_end(&mut bytes).is_err() {
            return;
        }
        let mut builder = GitignoreBuilder::new(path);
        for line in String::from_utf8_lossy(&bytes).lines() {
            // Git passes over lines that it does not understand, too.
            let _ = builder.add_line(None, line);
        }
        self.rules.extend(builder.build().ok());
    }

    /// Takes back what was added since.
    pub(super) fn leave(&mut self, before: usize) {
        self.rules.truncate(before);
    }

    /// Tells whether what is at `path` is ignored: the deepest rule about it decides.
    pub(super) fn is_ignored(&self, path: &Path, is_directory: bool) -> bool {
        let rules = self.rules.iter().rev();
        let mut matches = rules.map(|rules| rules.matched(path, is_directory));
        let decided = matches.find(|found| !found.is_none());
        decided.is_some_and(|found| found.is_ignore())
    }
}
