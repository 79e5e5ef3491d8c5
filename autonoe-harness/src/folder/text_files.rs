//! Plain-text files in an inbox, which become instructions.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;

use super::inbox::{is_text_name, names_in};
use super::{FolderError, FolderLock, MemberFolder};

/// Maximum size of a text that becomes an instruction, in bytes.
const LARGEST: u64 = 64 * 1024;

/// The text files of an inbox as of the last poll.
///
/// A file becomes an instruction once its size and its modification time have not changed for
/// [`SETTLED`](Self::SETTLED): until then, its writer may not have finished.
#[derive(Debug, Default)]
pub(crate) struct TextFiles {
    seen: BTreeMap<String, Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    size: u64,
    modified: Option<SystemTime>,
    since: Timestamp,
}

/// Result of a poll of the inbox.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Adopted {
    /// Files that became instructions: the name and the number.
    pub(crate) instructions: Vec<(String, u64)>,
    /// Files that cannot become instructions, each with the reason. They stay in the inbox.
    pub(crate) refused: Vec<(String, String)>,
}

impl TextFiles {
    pub(crate) const SETTLED: Duration = Duration::from_secs(1);

    /// Renames each text file that did not change for `settled` to an instruction with a number,
    /// in the order of their names.
    ///
    /// The rename is the only step, so a kill leaves either the file or the instruction.
    pub(crate) fn adopt(
        &mut self,
        folder: &MemberFolder,
        now: Timestamp,
        settled: Duration,
    ) -> Result<Adopted, FolderError> {
        let mut adopted = Adopted::default();
        let mut seen = BTreeMap::new();
        let inbox = folder.file("inbox");
        for name in names_in(&inbox)?.into_iter().filter(|it| is_text_name(it)) {
            // A file that is gone again needs no handling.
            let Ok(found) = fs::symlink_metadata(inbox.join(&name)) else {
                continue;
            };
            let (size, modified) = (found.len(), found.modified().ok());
            let since = match self.seen.get(&name) {
                Some(seen) if (seen.size, seen.modified) == (size, modified) => seen.since,
                _ => now,
            };
            let quiet = Duration::try_from(now.duration_since(since)).unwrap_or_default();
            if quiet >= settled {
                match check(&inbox.join(&name), &found) {
                    Ok(()) => {
                        let _lock = FolderLock::acquire_waiting(&folder.file("post.lock"))?;
                        let number = folder.adopt_text(&name)?;
                        adopted.instructions.push((name, number));
                        continue;
                    }
                    Err(reason) => adopted.refused.push((name.clone(), reason)),
                }
            }
            let state = Seen {
                size,
                modified,
                since,
            };
            seen.insert(name, state);
        }
        self.seen = seen;
        Ok(adopted)
    }
}

/// Checks whether a file contains a text for an agent.
fn check(path: &Path, found: &fs::Metadata) -> Result<(), String> {
    if !found.is_file() {
        return Err("it is not a file".to_owned());
    }
    if found.len() > LARGEST {
        return Err(format!("it is larger than {} KiB", LARGEST / 1024));
    }
    match fs::read_to_string(path) {
        Ok(text) if text.trim().is_empty() => Err("it is empty".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan;

    use super::*;
    use crate::strategy::MemberId;

    struct Fixture {
        _root: tempfile::TempDir,
        folder: MemberFolder,
        files: TextFiles,
        now: Timestamp,
    }

    impl Fixture {
        fn new() -> Self {
            let root = tempfile::tempdir().expect("a folder");
            let folder = MemberFolder::new(root.path(), &MemberId::new("a")).expect("an id");
            fs::create_dir_all(folder.path().join("inbox")).expect("writable");
            Self {
                _root: root,
                folder,
                files: TextFiles::default(),
                now: Timestamp::UNIX_EPOCH,
            }
        }

        fn write(&self, name: &str, text: impl AsRef<[u8]>) {
            fs::write(self.folder.file("inbox").join(name), text).expect("writable");
        }

        /// Polls the inbox, half a second after the last poll.
        fn poll(&mut self) -> Adopted {
            self.now += 500.milliseconds();
            let adopted = self.files.adopt(&self.folder, self.now, TextFiles::SETTLED);
            adopted.expect("the folder is readable")
        }

        fn texts(&self) -> Vec<(u64, String)> {
            let waiting = self.folder.inbox().expect("readable");
            assert_eq!(waiting.unreadable, []);
            let posted = waiting.instructions.into_iter();
            posted.map(|one| (one.number, one.text)).collect()
        }
    }

    #[test]
    fn text_files_become_instructions_in_the_order_of_their_names_after_those_that_were_sent() {
        let mut it = Fixture::new();
        it.folder.post("sent", it.now).expect("writable");
        it.write("002-later.md", "Use tabs.\n");
        it.write("001-first.txt", "Use Postgres.");

        assert_eq!(it.poll(), Adopted::default());
        assert_eq!(it.poll(), Adopted::default());
        let adopted = it.poll();

        assert_eq!(
            adopted.instructions,
            [
                ("001-first.txt".to_owned(), 2),
                ("002-later.md".to_owned(), 3)
            ]
        );
        assert_eq!(
            it.texts(),
            [
                (1, "sent".to_owned()),
                (2, "Use Postgres.".to_owned()),
                (3, "Use tabs.\n".to_owned()),
            ]
        );
        assert_eq!(it.poll(), Adopted::default());
    }

    #[test]
    fn a_file_that_still_grows_waits() {
        let mut it = Fixture::new();
        it.write("note.txt", "Use");
        it.poll();
        it.poll();
        it.write("note.txt", "Use Post");

        assert_eq!(it.poll(), Adopted::default());
        it.write("note.txt", "Use Postgres.");
        assert_eq!(it.poll(), Adopted::default());
        it.poll();

        assert_eq!(it.poll().instructions, [("note.txt".to_owned(), 1)]);
        assert_eq!(it.texts(), [(1, "Use Postgres.".to_owned())]);
    }

    #[test]
    fn a_reused_name_is_another_instruction() {
        let mut it = Fixture::new();
        for (number, text) in [(1, "one"), (2, "two")] {
            it.write("note.txt", text);
            it.poll();
            it.poll();
            assert_eq!(it.poll().instructions, [("note.txt".to_owned(), number)]);
            assert_eq!(it.texts(), [(number, text.to_owned())]);
            it.folder.mark_delivered(number).expect("writable");
        }
        assert_eq!(it.texts(), []);
        assert!(it.folder.file("taken").join("0000000002.text").exists());
    }

    #[test]
    fn a_file_without_a_usable_text_is_reported_and_stays() {
        let mut it = Fixture::new();
        it.write("empty.txt", " \n");
        it.write("large.txt", vec![b'a'; 64 * 1024 + 1]);
        it.write("picture.txt", [0xff, 0xfe, 0x00]);
        std::os::unix::fs::symlink("/etc/passwd", it.folder.file("inbox").join("link.txt"))
            .expect("writable");
        it.poll();
        it.poll();

        let adopted = it.poll();

        assert_eq!(adopted.instructions, []);
        let names: Vec<_> = adopted.refused.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["empty.txt", "large.txt", "link.txt", "picture.txt"]);
        assert_eq!(adopted.refused[1].1, "it is larger than 64 KiB");
        assert_eq!(names_in(&it.folder.file("inbox")).expect("there").len(), 4);
    }
}
