//! All that stands in a folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Folder,
    /// How long a file is and how it begins: a huge one is not read to its end.
    File(u64, Vec<u8>),
    Symlink(PathBuf),
    Other,
}

/// What stands in a folder, by path.
pub(crate) type Tree = BTreeMap<PathBuf, Found>;

/// As much of a file as is compared: more than the longest one that a case does not make huge.
const COMPARED: u64 = 1024 * 1024;

/// Returns all that stands in `folder`, however deep.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut all = Tree::new();
    for entry in fs::read_dir(folder).expect("readable") {
        let path = entry.expect("readable").path();
        let kind = fs::symlink_metadata(&path).expect("it is there");
        let found = if kind.is_dir() {
            all.extend(tree(&path));
            Found::Folder
        } else if kind.is_symlink() {
            Found::Symlink(fs::read_link(&path).expect("readable"))
        } else if kind.is_file() {
            let mut start = Vec::new();
            let file = File::open(&path).expect("readable");
            file.take(COMPARED)
                .read_to_end(&mut start)
                .expect("readable");
            Found::File(kind.len(), start)
        } else {
            Found::Other
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
