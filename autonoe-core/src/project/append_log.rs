//! [`AppendLog`], an append-only file of JSON lines.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::durable::sync_parent_folder;
use super::journal::JournalReadError;
use super::log_lines::{LogLines, MAX_LINE_LEN, Position, is_torn_line, open, parse_line};
use super::log_writers::LogWriters;
use super::path_identity::PathIdentity;
use super::{ProjectError, open_file_to_append};
use crate::run::Durability;

/// An entry of an [`AppendLog`].
pub trait LogEntry: Serialize + DeserializeOwned {
    /// The bytes that lines start with: each line with one of these. They identify the rest of a
    /// torn line.
    const STARTS: &'static [&'static [u8]];

    /// The version of the format. Lines of another version are refused.
    const VERSION: u32 = 1;

    /// Returns the version of the entry.
    fn version(&self) -> u32 {
        Self::VERSION
    }
}

/// An append-only file of JSON lines.
///
/// A kill or a power cut leaves whole lines and at most one torn line at the end. That line was
/// never acknowledged: [`open`](Self::open) removes it, and [`read`](Self::read) skips it. Any
/// other text at the end is an error, and the file stays unchanged.
///
/// The log writes only to the file that it opened: once that file was moved, removed or replaced,
/// every [`append`](Self::append) fails. [`LogWriters`] says who else may write to it.
///
/// ```
/// use autonoe_core::project::{AppendLog, LogEntry};
/// use autonoe_core::run::Durability;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Debug, PartialEq, Serialize, Deserialize)]
/// struct Visit {
///     page: String,
/// }
///
/// impl LogEntry for Visit {
///     const STARTS: &'static [&'static [u8]] = &[b"{\"page\":"];
/// }
///
/// # let dir = tempfile::tempdir()?;
/// let path = dir.path().join("visits.jsonl");
/// let visit = Visit { page: "/".to_owned() };
///
/// AppendLog::open(&path)?.append(&visit, Durability::Synced)?;
///
/// assert_eq!(AppendLog::<Visit>::read(&path)?, [visit]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct AppendLog<T> {
    path: PathBuf,
    identity: PathIdentity,
    writers: LogWriters,
    file: File,
    /// The length of the file when this log last wrote or checked it, in bytes.
    length: Mutex<u64>,
    entries: PhantomData<fn(&T)>,
}

impl<T: LogEntry> AppendLog<T> {
    /// Opens the log at `path` for one writer, or creates it.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or ends with a text that is not a torn line.
    pub fn open(path: &Path) -> Result<Self, ProjectError> {
        Self::open_for(LogWriters::One, path)
    }

    /// Opens the log at `path` for `writers`, or creates it. All writers of a file must open it in
    /// the same way.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub fn open_for(writers: LogWriters, path: &Path) -> Result<Self, ProjectError> {
        let unwritable = |source| ProjectError::unwritable(path, source);
        let file = open_file_to_append(path).map_err(unwritable)?;
        let found = file.metadata().map_err(unwritable)?;
        let log = Self {
            path: path.to_owned(),
            identity: PathIdentity::from_metadata(path, &found),
            writers,
            file,
            length: Mutex::new(0),
            entries: PhantomData,
        };
        // Nothing is repaired under a lock with a limit, so it is not waited for twice.
        if !matches!(writers, LogWriters::SeveralWithin(_)) {
            log.with_lock(|length| log.repair(length))?;
        }
        sync_parent_folder(path).map_err(unwritable)?;
        Ok(log)
    }

    /// Appends an entry.
    ///
    /// # Errors
    ///
    /// The entry cannot be written, is longer than 16 MiB, or the file is not the one that was
    /// opened.
    pub fn append(&self, entry: &T, durability: Durability) -> Result<(), ProjectError> {
        let line = self.line(entry)?;
        self.with_lock(|length| {
            self.check(length)?;
            self.write(length, line, durability)
        })
    }

    /// Appends the entry that `decide` returns for all entries so far, or nothing. No other writer
    /// appends meanwhile. Returns whether an entry was appended.
    ///
    /// # Errors
    ///
    /// As for [`append`](Self::append) and [`read`](Self::read).
    pub fn append_if(
        &self,
        durability: Durability,
        decide: impl FnOnce(Vec<T>) -> Option<T>,
    ) -> Result<bool, ProjectError> {
        self.with_lock(|length| {
            self.check(length)?;
            let Some(entry) = decide(Self::read(&self.path)?) else {
                return Ok(false);
            };
            self.write(length, self.line(&entry)?, durability)?;
            Ok(true)
        })
    }

    fn with_lock<R>(
        &self,
        work: impl FnOnce(&mut u64) -> Result<R, ProjectError>,
    ) -> Result<R, ProjectError> {
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = self.writers.lock(&self.file);
        let _lock = lock.map_err(|source| self.unwritable(source))?;
        work(&mut length)
    }

    /// Checks that lines still get into the file at the path.
    fn check(&self, length: &mut u64) -> Result<(), ProjectError> {
        let found = self.identity.check()?.len();
        let is_changed = match self.writers {
            LogWriters::One => found != *length,
            // No writer removes a whole line.
            LogWriters::Several | LogWriters::SeveralWithin(_) => found < *length,
        };
        if is_changed {
            let path = self.path.clone();
            return Err(ProjectError::Replaced { path });
        }
        if found > *length {
            self.repair(length)?;
        }
        Ok(())
    }

    /// Removes a torn line of a killed writer where that is allowed, and reads the length.
    fn repair(&self, length: &mut u64) -> Result<(), ProjectError> {
        let unwritable = |source| self.unwritable(source);
        if !matches!(self.writers, LogWriters::SeveralWithin(_))
            && !remove_torn_line::<T>(&self.file).map_err(unwritable)?
        {
            let path = self.path.clone();
            return Err(ProjectError::CorruptLogEnd { path });
        }
        *length = self.file.metadata().map_err(unwritable)?.len();
        Ok(())
    }

    fn line(&self, entry: &T) -> Result<Vec<u8>, ProjectError> {
        let mut line = serde_json::to_vec(entry).map_err(|error| self.unwritable(error.into()))?;
        line.push(b'\n');
        // A longer line could never be read again.
        if line.len() as u64 > MAX_LINE_LEN {
            let error = io::Error::other("the entry is longer than 16 MiB");
            return Err(self.unwritable(error));
        }
        Ok(line)
    }

    fn write(
        &self,
        length: &mut u64,
        mut line: Vec<u8>,
        durability: Durability,
    ) -> Result<(), ProjectError> {
        let mut file = &self.file;
        let unwritable = |source| self.unwritable(source);
        if matches!(self.writers, LogWriters::SeveralWithin(_)) {
            if !ends_with_line_end(file).map_err(unwritable)? {
                line.insert(0, b'\n');
            }
            file.write_all(&line).map_err(unwritable)?;
        } else {
            write_line(file, &line, *length).map_err(unwritable)?;
        }
        *length += line.len() as u64;
        match durability {
            Durability::Written => Ok(()),
            Durability::Synced => file.sync_data().map_err(unwritable),
        }
    }

    fn unwritable(&self, source: io::Error) -> ProjectError {
        ProjectError::unwritable(&self.path, source)
    }

    /// Reads all entries; a missing file has none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 256 MiB, or has a whole line that is not an entry.
    pub fn read(path: &Path) -> Result<Vec<T>, JournalReadError> {
        let mut entries = Vec::new();
        if let Some(file) = open(path, LARGEST)? {
            let mut lines = LogLines::<T, _>::new(path, file, Position::START);
            while let Some((at, line)) = lines.next_line()? {
                entries.push(parse_line(path, at.number, line)?);
            }
        }
        Ok(entries)
    }
}

/// The maximum size of a file that [`AppendLog::read`] reads, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Renames the log at `path` to the first of `count` rotated logs if it has `large` bytes or more.
/// The oldest one is deleted.
pub(super) fn rotate(path: &Path, large: u64, count: u32) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.len() >= large => {}
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    for number in (1..count).rev() {
        let from = rotated(path, number);
        if from.exists() {
            fs::rename(from, rotated(path, number + 1))?;
        }
    }
    fs::rename(path, rotated(path, 1))
}

/// Returns the path of a rotated log; 1 is the newest one.
pub(super) fn rotated(path: &Path, number: u32) -> PathBuf {
    path.with_extension(format!("{number}.jsonl"))
}

fn write_line(mut file: &File, line: &[u8], before: u64) -> io::Result<()> {
    // One call, so that a kill leaves a whole line, a torn one, or nothing.
    let written = file.write_all(line);
    if written.is_err() {
        // A full disk may leave a part of the line, and the next line would be appended to it.
        file.set_len(before)?;
    }
    written
}

/// Removes a torn line at the end; returns `false` if there is another text.
fn remove_torn_line<T: LogEntry>(mut file: &File) -> io::Result<bool> {
    let whole = end_of_last_line(file)?;
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(whole))?;
    file.take(MAX_LINE_LEN + 1).read_to_end(&mut tail)?;
    if tail.is_empty() {
        return Ok(true);
    }
    if tail.len() as u64 > MAX_LINE_LEN || !is_torn_line::<T>(&tail) {
        return Ok(false);
    }
    file.set_len(whole)?;
    Ok(true)
}

/// Returns whether the file is empty or ends with a line end.
fn ends_with_line_end(mut file: &File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// Returns the offset after the last line end, searching backwards.
fn end_of_last_line(mut file: &File) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let mut part = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Entry {
        text: String,
    }

    impl LogEntry for Entry {
        const STARTS: &'static [&'static [u8]] = &[b"{\"text\":"];
    }

    type Log = AppendLog<Entry>;

    fn entry(number: usize) -> Entry {
        let text = format!("{number}\n\u{e9}");
        Entry { text }
    }

    fn append(log: &Log, number: usize) -> Result<(), ProjectError> {
        log.append(&entry(number), Durability::Synced)
    }

    proptest! {
        /// A kill cuts the file anywhere; a power cut also leaves zeros where the file was growing.
        #[test]
        fn a_cut_file_keeps_its_whole_lines_and_accepts_new_ones(
            count in 1..5_usize, cut in any::<usize>(), zeros in 0..9_usize
        ) {
            let dir = tempfile::tempdir().expect("a folder");
            let path = dir.path().join("log.jsonl");
            let log = Log::open(&path).expect("writable");
            let mut ends = vec![0];
            for number in 0..count {
                append(&log, number).expect("writable");
                ends.push(fs::read(&path).expect("readable").len());
            }
            let mut bytes = fs::read(&path).expect("readable");
            bytes.truncate(cut % (bytes.len() + 1));
            let whole = ends.iter().filter(|end| **end <= bytes.len()).count() - 1;
            bytes.extend(vec![0; zeros]);
            fs::write(&path, &bytes).expect("writable");

            let before: Vec<Entry> = (0..whole).map(entry).collect();
            prop_assert_eq!(Log::read(&path).expect("readable"), &before[..]);
            append(&Log::open(&path).expect("writable"), 99).expect("writable");

            let expected: Vec<Entry> = (0..whole).chain([99]).map(entry).collect();
            prop_assert_eq!(Log::read(&path).expect("readable"), expected);
        }
    }

    #[test]
    fn foreign_text_is_an_error_and_stays_in_the_file() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        append(&Log::open(&path).expect("writable"), 1).expect("writable");
        let whole = fs::read(&path).expect("readable");

        for (foreign, opens) in [
            ("{\"text\":1}\n", true),
            ("{\"text\":\"clo\n", true),
            ("garbage\n", true),
            ("my notes", false),
        ] {
            let bytes = [&whole[..], foreign.as_bytes()].concat();
            fs::write(&path, &bytes).expect("writable");

            let read = Log::read(&path);

            let is_line_2 = matches!(read, Err(JournalReadError::Corrupt { number: 2, .. }));
            assert!(is_line_2, "{foreign}: {read:?}");
            assert_eq!(Log::open(&path).is_ok(), opens, "{foreign}");
            assert_eq!(fs::read(&path).expect("readable"), bytes);
        }
    }

    #[test]
    fn a_replaced_or_changed_file_gets_no_more_lines() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        let changes: [fn(&Path); 4] = [
            |path| fs::remove_file(path).expect("removable"),
            |path| fs::rename(path, path.with_extension("moved")).expect("movable"),
            |path| {
                fs::copy(path, path.with_extension("copy")).expect("readable");
                fs::rename(path.with_extension("copy"), path).expect("movable");
            },
            |path| append(&Log::open(path).expect("writable"), 7).expect("writable"),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let log = Log::open(&path).expect("writable");
            append(&log, 1).expect("writable");

            change(&path);

            assert!(append(&log, 2).is_err(), "{number}");
        }
    }

    fn shared(path: &Path) -> Log {
        Log::open_for(LogWriters::Several, path).expect("writable")
    }

    #[test]
    fn a_replaced_or_shortened_shared_file_gets_no_more_lines() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        let changes: [fn(&Path); 4] = [
            |path| fs::remove_file(path).expect("removable"),
            |path| fs::rename(path, path.with_extension("moved")).expect("movable"),
            |path| {
                fs::copy(path, path.with_extension("copy")).expect("readable");
                fs::rename(path.with_extension("copy"), path).expect("movable");
            },
            |path| fs::write(path, "").expect("writable"),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let log = shared(&path);
            append(&log, 1).expect("writable");

            change(&path);

            assert!(append(&log, 2).is_err(), "{number}");
            let conditional = log.append_if(Durability::Synced, |_| Some(entry(2)));
            assert!(conditional.is_err(), "{number}");
        }
    }

    #[test]
    fn shared_writers_continue_after_each_other_and_after_a_torn_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        let (first, second) = (shared(&path), shared(&path));
        append(&first, 1).expect("writable");
        append(&second, 2).expect("writable");
        let mut file = open_file_to_append(&path).expect("writable");
        file.write_all(b"{\"text\":\"to").expect("writable");

        append(&first, 3).expect("writable");

        let expected = [1, 2, 3].map(entry);
        assert_eq!(Log::read(&path).expect("readable"), expected);
        file.write_all(b"my notes").expect("writable");
        let refused = append(&second, 4);
        assert!(matches!(refused, Err(ProjectError::CorruptLogEnd { .. })));
    }

    #[test]
    fn one_of_several_writers_appends_a_conditional_entry() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");

        let appended = std::thread::scope(|scope| {
            let threads = [1, 2, 3, 4, 5, 6, 7, 8].map(|number| {
                let log = shared(&path);
                scope.spawn(move || {
                    let is_first = |so_far: Vec<Entry>| so_far.is_empty().then(|| entry(number));
                    log.append_if(Durability::Synced, is_first)
                        .expect("writable")
                })
            });
            threads.map(|thread| thread.join().expect("no panic"))
        });

        assert_eq!(appended.iter().filter(|it| **it).count(), 1);
        assert_eq!(Log::read(&path).expect("readable").len(), 1);
    }

    #[test]
    fn a_log_with_a_lock_limit_removes_nothing_and_does_not_wait_for_ever() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        fs::write(&path, "{\"text\":\"to").expect("writable");
        let holder = File::open(&path).expect("readable");
        holder.lock().expect("free");

        let writers = LogWriters::SeveralWithin(std::time::Duration::from_millis(5));
        let log = Log::open_for(writers, &path).expect("writable");
        append(&log, 1).expect("writable");

        let line = serde_json::to_string(&entry(1)).expect("it serialises");
        let text = fs::read_to_string(&path).expect("readable");
        assert_eq!(text, format!("{{\"text\":\"to\n{line}\n"));
    }

    #[test]
    fn an_entry_that_could_not_be_read_back_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        let log = Log::open(&path).expect("writable");
        let text = "x".repeat(usize::try_from(MAX_LINE_LEN).expect("it is small"));

        assert!(log.append(&Entry { text }, Durability::Written).is_err());
        append(&log, 1).expect("writable");

        assert_eq!(Log::read(&path).expect("readable"), [entry(1)]);
    }

    #[test]
    fn rotation_keeps_the_newest_logs() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("log.jsonl");
        for number in 1..=4 {
            fs::write(&path, number.to_string()).expect("writable");
            rotate(&path, 2, 2).expect("nothing to do");
            rotate(&path, 1, 2).expect("rotated");
        }

        let text = |number| fs::read_to_string(rotated(&path, number)).ok();
        assert_eq!(
            [text(1), text(2), text(3)],
            [Some("4".into()), Some("3".into()), None]
        );
        assert!(!path.exists());
        rotate(&path, 1, 2).expect("a missing log is no error");
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_in_place_of_the_log_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let (target, path) = (dir.path().join("target"), dir.path().join("log.jsonl"));
        std::os::unix::fs::symlink(&target, &path).expect("writable");

        let opened = Log::open(&path);

        assert!(
            matches!(opened, Err(ProjectError::Unwritable { .. })),
            "{opened:?}"
        );
        assert!(!target.exists());
    }
}
