//! What is in a folder.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::project_files::walk;

/// How many changed lines are a lot, if nothing else is said.
const A_LOT: u64 = 100;

/// How many changed lines a file counts for whose lines nobody counts.
const UNCOUNTED: u64 = 10;

/// How much of a folder is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SnapshotLimits {
    /// The most files, and the most directories.
    pub files: usize,
    /// Up to how many bytes the lines of a file are counted. A larger one is the same as long as
    /// its size and its time are.
    pub file_bytes: u64,
    /// Of how many bytes in all the lines are counted. What comes then is taken for a large file.
    pub all_bytes: u64,
    /// How many lines must change for the highest score.
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

/// What is in a folder at one time, to be compared with another time.
///
/// It looks at the files themselves, so it does not matter whether they are tracked, committed or
/// in a repository at all. Files that `.gitignore` names are left out, and so are `.git`,
/// `.autonoe`, `.autonoe-note.md` and `.harness`.
///
/// ```
/// use autonoe_harness::{SnapshotLimits, TreeSnapshot};
///
/// let folder = tempfile::tempdir()?;
/// let limits = SnapshotLimits::default();
/// let before = TreeSnapshot::take(folder.path(), &limits)?;
/// std::fs::write(folder.path().join("new.txt"), "line\n".repeat(50))?;
/// let now = TreeSnapshot::take(folder.path(), &limits)?;
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
        /// A hash of all of it: lines can change their places.
        whole: u64,
        /// How often each line is there, by its hash.
        lines: HashMap<u64, u64>,
    },
    /// Something whose lines nobody counts, by a hash of what is known about it.
    Other(u64),
}

impl TreeSnapshot {
    /// Looks at `folder`. It blocks the thread for as long as that takes.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or there are more files in it than are looked at. What goes away
    /// meanwhile, and a folder inside that nobody may read, is left out.
    pub fn take(folder: &Path, limits: &SnapshotLimits) -> io::Result<Self> {
        let mut files = HashMap::new();
        let mut bytes_left = limits.all_bytes;
        walk(folder, limits.files, &mut |path, _| {
            let (content, read) = Content::of(path, limits.file_bytes.min(bytes_left))?;
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
        let gone = before
            .files
            .iter()
            .filter(|(path, _)| !self.files.contains_key(*path));
        let gone = gone.map(|(_, before)| changed_lines(Some(before), None));
        now.chain(gone).sum()
    }

    /// Returns how much changed since `before`, from 0 to 1.
    pub fn score_since(&self, before: &Self, limits: &SnapshotLimits) -> f64 {
        let changed = self.changed_lines_since(before) as f64;
        (changed / limits.full_score_lines.max(1) as f64).min(1.0)
    }
}

impl Content {
    /// Looks at a file, and returns how many bytes of it were read: at most `most`.
    fn of(path: &Path, most: u64) -> io::Result<(Self, u64)> {
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
            // What nobody may read can still be seen to change.
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
    // An empty file that comes or goes is a change as well, and so are lines in another order.
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

        fn take(&self) -> TreeSnapshot {
            TreeSnapshot::take(self.0.path(), &SnapshotLimits::default()).expect("a snapshot")
        }
    }

    #[test]
    fn no_more_is_read_than_may_be_and_the_rest_is_still_seen_to_change() {
        let folder = Folder::new();
        let limits = SnapshotLimits {
            all_bytes: 2,
            ..SnapshotLimits::default()
        };
        let take = || TreeSnapshot::take(folder.0.path(), &limits).expect("a snapshot");
        folder.write("a.rs", "one\n");
        let before = take();
        folder.write("a.rs", "one\ntwo\n");

        assert_eq!(take().changed_lines_since(&before), UNCOUNTED);
    }

    #[test]
    fn work_that_was_committed_is_seen() {
        let folder = Folder::new();
        folder.git(&["init", "-q"]);
        folder.write("a.rs", "one\n");
        let before = folder.take();
        folder.write("a.rs", "one\ntwo\nthree\n");
        folder.git(&["add", "."]);
        folder.git(&["commit", "-qm", "work"]);

        assert_eq!(folder.take().changed_lines_since(&before), 2);
    }

    #[test]
    fn files_that_nobody_tracks_are_seen_with_and_without_a_repository() {
        for is_repository in [false, true] {
            let folder = Folder::new();
            if is_repository {
                folder.git(&["init", "-q"]);
            }
            let before = folder.take();
            folder.write("src/new.rs", "a\nb\nc\n");

            assert_eq!(folder.take().changed_lines_since(&before), 3);
        }
    }

    #[test]
    fn what_is_changed_removed_renamed_or_binary_counts() {
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
            let before = folder.take();

            change(&folder);

            assert_eq!(folder.take().changed_lines_since(&before), expected);
        }
    }

    #[test]
    fn what_is_ignored_does_not_count() {
        let folder = Folder::new();
        folder.write(".gitignore", "target/\n");
        let before = folder.take();
        folder.write("target/out", "many\nlines\n");

        assert_eq!(folder.take(), before);
    }

    #[test]
    fn a_folder_that_is_not_there_or_too_large_is_an_error() {
        let folder = Folder::new();
        folder.write("a", "1");
        folder.write("b", "1");
        let limits = SnapshotLimits {
            files: 1,
            ..SnapshotLimits::default()
        };

        assert!(TreeSnapshot::take(folder.0.path(), &limits).is_err());
        assert!(TreeSnapshot::take(&folder.0.path().join("c"), &limits).is_err());
    }
}
