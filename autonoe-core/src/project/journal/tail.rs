//! Follows a journal file while it grows.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::entry::JournalEntry;
use super::index::JournalIndex;
use super::lines::LONGEST;
use super::read_error::{JournalReadError, corrupt};
use super::reader::parse;
use crate::project::FileKind;

/// Reads a journal file while somebody writes it.
///
/// It survives all that happens to a journal: there is none yet, its last line
/// is being written or was torn by a kill, a new run puts the file aside and
/// begins another. Each line is returned once, in order. It watches nothing:
/// who follows a run asks again from time to time.
///
/// ```
/// use autonoe_core::{JournalTail, Project};
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let mut tail = JournalTail::new(project.journal_path());
///
/// assert!(tail.read_new()?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct JournalTail {
    path: PathBuf,
    open: Option<Open>,
}

/// The file that is being read.
#[derive(Debug)]
struct Open {
    file: File,
    /// Where the last whole line that was read ends.
    position: u64,
    /// How many lines were read.
    lines: usize,
}

impl JournalTail {
    /// Follows the journal at `path` from its beginning, whether or not it exists yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            open: None,
        }
    }

    /// Follows the journal at `path` from the beginning of the run that its last line is about. Lines before
    /// that are not parsed.
    ///
    /// # Errors
    ///
    /// As [`JournalIndex::read`](super::JournalIndex::read).
    pub fn from_last_run(path: &Path) -> Result<Self, JournalReadError> {
        let found = JournalIndex::read(path)?.into_last_run();
        Ok(Self {
            path: path.to_owned(),
            open: found.map(|(file, start)| Open {
                file,
                position: start.offset,
                lines: start.number - 1,
            }),
        })
    }

    /// Returns the whole lines that have come since the last call.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a whole line of it cannot be understood. The
    /// next call begins at the same place.
    pub fn read_new(&mut self) -> Result<Vec<JournalEntry>, JournalReadError> {
        let mut entries = Vec::new();
        loop {
            self.open()?;
            let Some(open) = &mut self.open else {
                return Ok(entries);
            };
            let more = open.read_lines(&self.path)?;
            let is_at_end = more.is_empty();
            entries.extend(more);
            if is_at_end && self.is_current()? {
                return Ok(entries);
            }
            if is_at_end {
                // What was put aside has been read to its end.
                self.open = None;
            }
        }
    }

    /// Opens the file if that has not been done and there is one.
    fn open(&mut self) -> Result<(), JournalReadError> {
        // Looked at before it is opened: to open a pipe is to wait for its writer.
        if self.open.is_some() || self.found()?.is_none() {
            return Ok(());
        }
        self.open = match File::open(&self.path) {
            Ok(file) => Some(Open {
                file,
                position: 0,
                lines: 0,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(unreadable(&self.path, source)),
        };
        Ok(())
    }

    /// Tells whether the file that is being read still is the journal.
    ///
    /// While there is none it may have been put aside a moment ago; it is read on until there is.
    fn is_current(&self) -> Result<bool, JournalReadError> {
        let (Some(open), Some(found)) = (&self.open, self.found()?) else {
            return Ok(true);
        };
        let own = open.file.metadata();
        let own = own.map_err(|source| unreadable(&self.path, source))?;
        Ok(is_same_file(&own, &found) && found.len() >= open.position)
    }

    fn found(&self) -> Result<Option<Metadata>, JournalReadError> {
        match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => Ok(Some(found)),
            Ok(found) => Err(JournalReadError::NotAFile {
                path: self.path.clone(),
                found: FileKind::of(found.file_type()),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unreadable(&self.path, source)),
        }
    }
}

impl Open {
    /// Reads whole lines. What follows the last of them is read again the next
    /// time: a torn line is cut off and written over when its run goes on.
    fn read_lines(&mut self, path: &Path) -> Result<Vec<JournalEntry>, JournalReadError> {
        let mut bytes = Vec::new();
        self.file
            .seek(SeekFrom::Start(self.position))
            .and_then(|_| (&self.file).take(LONGEST).read_to_end(&mut bytes))
            .map_err(|source| unreadable(path, source))?;
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            return match bytes.len() as u64 {
                LONGEST => Err(corrupt(path, self.lines + 1, "it is longer than 16 MiB")),
                _ => Ok(Vec::new()),
            };
        };
        let lines = bytes[..=end].split_inclusive(|byte| *byte == b'\n');
        let entries: Vec<_> = lines
            .enumerate()
            .map(|(index, line)| parse(path, self.lines + index + 1, line))
            .collect::<Result<_, _>>()?;
        self.position += end as u64 + 1;
        self.lines += entries.len();
        Ok(entries)
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Where files have no numbers, one that was replaced is known by its length alone.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

fn unreadable(path: &Path, source: io::Error) -> JournalReadError {
    JournalReadError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::super::reader::parsed_lines;
    use super::*;

    #[test]
    fn a_follower_begins_at_the_run_of_the_last_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("journal.jsonl");
        let line = |run: &str| {
            let line = r#""at":"1970-01-01T00:00:00Z","line":"flow_resumed","epoch":1}"#;
            format!("{{\"v\":1,\"run\":\"{run}\",{line}\n")
        };
        let text: String = ["one", "two", "one", "two"].map(line).concat();
        fs::write(&path, text).expect("writable");
        let before = parsed_lines();

        let mut tail = JournalTail::from_last_run(&path).expect("readable");
        let entries = tail.read_new().expect("readable");

        let runs: Vec<_> = entries.iter().map(|entry| entry.run.as_str()).collect();
        assert_eq!(runs, ["two", "one", "two"]);
        assert_eq!(parsed_lines(), before + 3);
        let none = JournalTail::from_last_run(&dir.path().join("missing"));
        assert_eq!(none.expect("readable").read_new().expect("readable"), []);
    }
}
