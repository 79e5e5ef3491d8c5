//! [`Tree`], the content of a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The file at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FileContent {
    Folder,
    /// The length and the beginning of a file: a huge one is not read to its end.
    File(u64, Vec<u8>),
    Symlink(PathBuf),
    Other,
}

/// The content of a folder, by path.
pub(crate) type Tree = BTreeMap<PathBuf, FileContent>;

/// The number of bytes of a file that are compared: more than the longest file that is not made
/// huge by a case.
const COMPARED: u64 = 1024 * 1024;

/// Returns the whole content of `folder`, recursively.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let kind = fs::symlink_metadata(&path).expect("it is there");
        let found = if kind.is_dir() {
            all.extend(tree(&path));
            FileContent::Folder
        } else if kind.is_symlink() {
            FileContent::Symlink(fs::read_link(&path).expect("readable"))
        } else if kind.is_file() {
            let mut start = Vec::new();
            let file = File::open(&path).expect("readable");
            file.take(COMPARED)
                .read_to_end(&mut start)
                .expect("readable");
            FileContent::File(kind.len(), start)
        } else {
            FileContent::Other
        };
        all.insert(path, found);
    }
    all
}

/// Returns the paths at which two trees differ.
pub(crate) fn differences(before: &Tree, after: &Tree) -> Vec<String> {
    let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    all.into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .map(|path| path.display().to_string())
        .collect()
}
