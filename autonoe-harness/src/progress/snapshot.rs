//! Snapshot of the files in a folder, to measure changes.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::project_files::walk;

/// Default number of changed lines for the full score.
const A_LOT: u64 = 100;

/// Number of changed lines that a file counts for if its lines are not counted.
const UNCOUNTED: u64 = 10;

/// Limits of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotLimits {
    /// The maximum number of files, and of directories.
    pub files: usize,
    /// The maximum size of a file whose lines are counted, in bytes. A larger file counts as
    /// unchanged as long as its size and its modification time are the same.
    pub file_bytes: u64,
    /// The maximum number of bytes, over all files, whose lines are counted. Files beyond it are
    /// treated like large files.
    pub all_bytes: u64,
    /// The number of changed lines for the highest score.
    pub full_score_lines: u64,
}

impl Default for SnapshotLimits {
    fn default() -> Self {
        Self {
            files: 50_000,
            file_bytes: 1024 * 1024,
            all_bytes: 256 * 1024 * 1024,
            full_score_lines: A_LOT,
        }
    }
}

/// Content of a folder at one time, to be compared with that at another time.
///
/// The snapshot reads the files themselves, so it does not matter whether they are tracked,
/// committed or in a repository at all. Files that `.gitignore` names are left out, and so are
/// `.git`, `.autonoe`, `.autonoe-note.md` and `.harness`.
///
/// ```
/// use autonoe_harness::progress::{SnapshotLimits, TreeSnapshot};
///
/// let folder = tempfile::tempdir()?;
/// let limits = SnapshotLimits::default();
/// let before = TreeSnapshot::capture(folder.path(), &limits)?;
/// std::fs::write(folder.path().join("new.txt"), "line\n".repeat(50))?;
/// let now = TreeSnapshot::capture(folder.path(), &limits)?;
///
/// assert_eq!(now.score_since(&before, &limits), 0.5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeSnapshot {
    files: HashMap<PathBuf, Content>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Lines {
        /// Hash of the whole content, because lines can change their order.
        whole: u64,
        /// Number of occurrences of each line, by its hash.
        lines: HashMap<u64, u64>,
    },
    /// Content whose lines are not counted, as a hash of what is known about it.
    Other(u64),
}

impl TreeSnapshot {
    /// Takes a snapshot of `folder`. Blocks the thread.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or it contains more files than the limit. Files that disappear in
    /// the meantime and unreadable subfolders are left out.
    pub fn capture(folder: &Path, limits: &SnapshotLimits) -> io::Result<Self> {
        let mut files = HashMap::new();
        let mut bytes_left = limits.all_bytes;
        walk(folder, limits.files, &mut |path, _| {
            let (content, read) = Content::read(path, limits.file_bytes.min(bytes_left))?;
            bytes_left = bytes_left.saturating_sub(read);
            let path = path.strip_prefix(folder).unwrap_or(path);
            files.insert(path.to_owned(), content);
            Ok(())
        })?;
        Ok(Self { files })
    }

    /// Counts the lines that were added or removed since `before`, whichever is more in each file.
    pub fn changed_lines_since(&self, before: &Self) -> u64 {
        let now = self.files.iter().map(|(path, now)| {
            let before = before.files.get(path);
            changed_lines(before, Some(now))
        });
        let removed = before
            .files
            .iter()
            .filter(|(path, _)| !self.files.contains_key(*path));
        let removed = removed.map(|(_, before)| changed_lines(Some(before), None));
        now.chain(removed).sum()
    }

    /// Returns the amount of changes since `before`, from 0 to 1.
    pub fn score_since(&self, before: &Self, limits: &SnapshotLimits) -> f64 {
        let changed = self.changed_lines_since(before) as f64;
        (changed / limits.full_score_lines.max(1) as f64).min(1.0)
    }
}

impl Content {
    /// Reads a file, and returns the number of bytes that were read: at most `most`.
    fn read(path: &Path, most: u64) -> io::Result<(Self, u64)> {
        let hasher = BuildHasherDefault::<DefaultHasher>::default();
        let metadata = path.symlink_metadata()?;
        if metadata.is_symlink() {
            return Ok((Self::Other(hasher.hash_one(path.read_link()?)), 0));
        }
        let known = (metadata.len(), metadata.modified().ok());
        if !metadata.is_file() || metadata.len() > most {
            return Ok((Self::Other(hasher.hash_one(known)), 0));
        }
        let mut bytes = Vec::new();
        let read = match File::open(path) {
            Ok(file) => file.take(most).read_to_end(&mut bytes)? as u64,
            // Changes of an unreadable file are still visible in its metadata.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Ok((Self::Other(hasher.hash_one(known)), 0));
            }
            Err(error) => return Err(error),
        };
        if bytes.contains(&0) {
            return Ok((Self::Other(hasher.hash_one(bytes)), read));
        }
        let mut lines = HashMap::new();
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            *lines.entry(hasher.hash_one(line)).or_default() += 1;
        }
        let whole = hasher.hash_one(&bytes);
        Ok((Self::Lines { whole, lines }, read))
    }
}

fn changed_lines(before: Option<&Content>, now: Option<&Content>) -> u64 {
    let none = HashMap::new();
    let lines = |content: Option<&Content>| match content {
        Some(Content::Other(_)) => None,
        Some(Content::Lines { lines, .. }) => Some(lines.clone()),
        None => Some(none.clone()),
    };
    if before == now {
        return 0;
    }
    let (Some(before), Some(now)) = (lines(before), lines(now)) else {
        return UNCOUNTED;
    };
    let added = missing(&now, &before);
    // Creating or removing an empty file is a change as well, and so is another order of lines.
    added.max(missing(&before, &now)).max(1)
}

/// Counts the lines in `these` that are not in `those`.
fn missing(these: &HashMap<u64, u64>, those: &HashMap<u64, u64>) -> u64 {
    let missing = |(line, count): (&u64, &u64)| {
        count.saturating_sub(those.get(line).copied().unwrap_or_default())
    };
    these.iter().map(missing).sum()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().expect("a folder"))
        }

        fn write(&self, path: &str, text: impl AsRef<[u8]>) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().expect("it has one")).expect("folders");
            fs::write(path, text).expect("a file");
        }

        fn git(&self, arguments: &[&str]) {
            let done = Command::new("git")
                .args(["-c", "user.name=a", "-c", "user.email=a@b.c"])
                .args(arguments)
                .current_dir(self.0.path())
                .output()
                .expect("git");
            assert!(done.status.success(), "{done:?}");
        }

        fn capture(&self) -> TreeSnapshot {
            TreeSnapshot::capture(self.0.path(), &SnapshotLimits::default()).expect("a snapshot")
        }
    }

    #[test]
    fn changes_beyond_the_byte_limit_are_detected() {
        let folder = Folder::new();
        let limits = SnapshotLimits {
            all_bytes: 2,
            ..SnapshotLimits::default()
        };
        let capture = || TreeSnapshot::capture(folder.0.path(), &limits).expect("a snapshot");
        folder.write("a.rs", "one\n");
        let before = capture();
        folder.write("a.rs", "one\ntwo\n");

        assert_eq!(capture().changed_lines_since(&before), UNCOUNTED);
    }

    #[test]
    fn committed_work_counts() {
        let folder = Folder::new();
        folder.git(&["init", "-q"]);
        folder.write("a.rs", "one\n");
        let before = folder.capture();
        folder.write("a.rs", "one\ntwo\nthree\n");
        folder.git(&["add", "."]);
        folder.git(&["commit", "-qm", "work"]);

        assert_eq!(folder.capture().changed_lines_since(&before), 2);
    }

    #[test]
    fn untracked_files_count_with_and_without_a_repository() {
        for is_repository in [false, true] {
            let folder = Folder::new();
            if is_repository {
                folder.git(&["init", "-q"]);
            }
            let before = folder.capture();
            folder.write("src/new.rs", "a\nb\nc\n");

            let now = folder.capture();
            assert_eq!(now.changed_lines_since(&before), 3);
            let score = |now: &TreeSnapshot| now.score_since(&before, &SnapshotLimits::default());
            assert_eq!(score(&now), 0.03);
            for lines in [100, 1_000] {
                folder.write("src/new.rs", "a\n".repeat(lines));
                assert_eq!(score(&folder.capture()), 1.0, "{lines}");
            }
        }
    }

    #[test]
    fn changed_removed_renamed_and_binary_files_count() {
        for (change, expected) in [
            ((|f: &Folder| f.write("a", "1\nx\n3\n")) as fn(&Folder), 1),
            (|f| f.write("a", "3\n2\n1\n"), 1),
            (|f| fs::remove_file(f.0.path().join("a")).expect("gone"), 3),
            (
                |f| fs::rename(f.0.path().join("a"), f.0.path().join("b")).expect("moved"),
                6,
            ),
            (|f| f.write("image", [0, 1, 2]), 10),
            (|f| f.write("empty", ""), 1),
            (
                |f| std::os::unix::fs::symlink("a", f.0.path().join("l")).expect("a link"),
                10,
            ),
            (|f| f.write("a", "1\n2\n3\n"), 0),
            (|f| f.write(".autonoe/journal", "1\n2\n3\n"), 0),
            (|f| f.write(".harness/log", "1\n2\n3\n"), 0),
        ] {
            let folder = Folder::new();
            folder.write("a", "1\n2\n3\n");
            let before = folder.capture();

            change(&folder);

            assert_eq!(folder.capture().changed_lines_since(&before), expected);
        }
    }

    #[test]
    fn ignored_files_do_not_count() {
        let folder = Folder::new();
        folder.write(".gitignore", "target/\n");
        let before = folder.capture();
        folder.write("target/out", "many\nlines\n");

        assert_eq!(folder.capture(), before);
    }

    #[test]
    fn a_missing_or_too_large_folder_is_an_error() {
        let folder = Folder::new();
        folder.write("a", "1");
        folder.write("b", "1");
        let limits = SnapshotLimits {
            files: 1,
            ..SnapshotLimits::default()
        };

        assert!(TreeSnapshot::capture(folder.0.path(), &limits).is_err());
        assert!(TreeSnapshot::capture(&folder.0.path().join("c"), &limits).is_err());
    }
}
