//! [`JournalTail`], which follows a journal file while it grows.

use std::fs::{self, File, Metadata};
use std::io::{self, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use super::file_journal::JournalEntry;
use super::index::JournalIndex;
use super::reader::JournalReadError;
use crate::project::FileKind;
use crate::project::log_lines::{LogLines, Position, parse_line};
use crate::project::path_identity::identity;

/// Reads a journal file while another process writes it.
///
/// It handles everything that can happen to a journal: the file does not exist yet, its last line
/// is being written or was torn by a kill, or a new run rotates the file and starts another one.
/// Each line is returned once, in order. It does not watch the file: the caller polls it.
///
/// ```
/// use autonoe_core::project::JournalTail;
/// use autonoe_core::Project;
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
    /// The start of the first unread line.
    next: Position,
}

impl JournalTail {
    /// Follows the journal at `path` from its start, whether or not it exists yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            open: None,
        }
    }

    /// Follows the journal at `path` from the start of the run of its last line. Lines before that
    /// are not parsed.
    ///
    /// # Errors
    ///
    /// As [`JournalIndex::read`](super::JournalIndex::read).
    pub fn from_last_run(path: &Path) -> Result<Self, JournalReadError> {
        let found = JournalIndex::read(path)?.into_last_run();
        Ok(Self {
            path: path.to_owned(),
            open: found.map(|(file, start)| Open { file, next: start }),
        })
    }

    /// Returns the whole lines that were added since the last call.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or has a whole line that cannot be parsed. The next call starts at
    /// the same position.
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
                // The rotated file has been read to its end.
                self.open = None;
            }
        }
    }

    /// Opens the file, unless it is open or missing.
    fn open(&mut self) -> Result<(), JournalReadError> {
        // Checked before opening, because opening a pipe blocks until it has a writer.
        if self.open.is_some() || self.file_metadata()?.is_none() {
            return Ok(());
        }
        self.open = match File::open(&self.path) {
            Ok(file) => Some(Open {
                file,
                next: Position::START,
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(unreadable(&self.path, source)),
        };
        Ok(())
    }

    /// Returns whether the open file is still the journal.
    ///
    /// If there is no journal, it may just have been rotated; the open file is read further until
    /// there is a new one.
    fn is_current(&self) -> Result<bool, JournalReadError> {
        let (Some(open), Some(found)) = (&self.open, self.file_metadata()?) else {
            return Ok(true);
        };
        let own = open
            .file
            .metadata()
            .map_err(|source| unreadable(&self.path, source))?;
        Ok(identity(&own) == identity(&found) && found.len() >= open.next.offset)
    }

    fn file_metadata(&self) -> Result<Option<Metadata>, JournalReadError> {
        match fs::metadata(&self.path) {
            Ok(found) if found.is_file() => Ok(Some(found)),
            Ok(found) => Err(JournalReadError::NotAFile {
                path: self.path.clone(),
                found: FileKind::from_file_type(found.file_type()),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(unreadable(&self.path, source)),
        }
    }
}

impl Open {
    /// Reads whole lines. The rest is read again the next time: a torn line is cut off and
    /// overwritten when its run is resumed.
    fn read_lines(&mut self, path: &Path) -> Result<Vec<JournalEntry>, JournalReadError> {
        let found = self.file.seek(SeekFrom::Start(self.next.offset));
        found.map_err(|source| unreadable(path, source))?;
        let mut lines = LogLines::<JournalEntry, _>::new(path, &self.file, self.next);
        let mut entries = Vec::new();
        let mut next = self.next;
        while let Some((at, line)) = lines.next_whole_line()? {
            entries.push(parse_line(path, at.number, line)?);
            next = lines.position();
        }
        self.next = next;
        Ok(entries)
    }
}

fn unreadable(path: &Path, source: io::Error) -> JournalReadError {
    JournalReadError::Unreadable {
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::log_lines::parsed_lines;

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
