//! Reads a journal file.

use std::io;
use std::path::{Path, PathBuf};

use super::entry::{JournalEntry, VERSION, is_torn_line};
use super::story::RunStory;
use super::writer::{KEPT, aside};
use crate::domain::{RunId, SessionKey, SessionResult};
use crate::project::json_words::placeless_complaint;
use crate::project::plain_file::{Unread, read_plain_file};
use crate::project::text_file::without_mark;
use crate::project::{FileKind, Project};
use crate::run::{JournalLine, RecordedFlow, RecordedRun};

/// What a journal file holds, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    entries: Vec<JournalEntry>,
}

impl Journal {
    /// Reads the journal at `path`; a missing file is an empty journal.
    ///
    /// The beginning of a line at the end is what a kill leaves: it is left
    /// out. Fields that are not known are passed over: whoever adds one that
    /// readers must know raises the version, and lines of another version are
    /// refused.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 256 MiB, or a whole line of it
    /// cannot be understood.
    pub fn read(path: &Path) -> Result<Self, JournalReadError> {
        let Some(bytes) = bytes_of(path)? else {
            return Ok(Self::default());
        };
        let whole = bytes
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let lines_before = bytes[..whole].iter().filter(|byte| **byte == b'\n').count();
        if !is_torn_line(&bytes[whole..]) {
            // Not ours, so it is not ours to leave out either.
            parse(path, lines_before + 1, &bytes[whole..])?;
        }
        let lines = bytes[..whole].split_inclusive(|byte| *byte == b'\n');
        let entries = lines
            .enumerate()
            .map(|(index, line)| parse(path, index + 1, line))
            .collect::<Result<_, _>>()?;
        Ok(Self { entries })
    }

    /// Reads the journal of `project`, and before it those that were put aside when they
    /// had grown large.
    ///
    /// ```
    /// use autonoe_core::{Journal, Project};
    ///
    /// # let dir = tempfile::tempdir()?;
    /// let project = Project::find(dir.path(), None)?;
    ///
    /// assert!(Journal::read_all(&project)?.entries().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`read`](Self::read), for each of the files.
    pub fn read_all(project: &Project) -> Result<Self, JournalReadError> {
        let path = project.journal_path();
        let earlier = (1..=KEPT).rev().map(|number| aside(&path, number));
        let mut entries = Vec::new();
        for path in earlier.chain([path.clone()]) {
            entries.extend(Self::read(&path)?.entries);
        }
        Ok(Self { entries })
    }

    /// Returns all lines.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Returns the stories of all runs, in the order of their start.
    pub fn stories(&self) -> Vec<RunStory> {
        let mut runs: Vec<&RunId> = Vec::new();
        for entry in &self.entries {
            if !runs.contains(&&entry.run) {
                runs.push(&entry.run);
            }
        }
        runs.into_iter()
            .map(|run| RunStory::of(run, self.of_run(run)))
            .collect()
    }

    /// Returns the last run if it broke off, to go on with it; `None` if that was a flow.
    pub fn broken_off(&self) -> Option<RecordedRun> {
        let run = &self.entries.last()?.run;
        let lines = self.of_run(run).map(|entry| &entry.line);
        RecordedRun::replay(run.clone(), lines)
    }

    /// Returns the last run if it was a flow and broke off, to go on with it.
    ///
    /// ```
    /// use autonoe_core::Journal;
    ///
    /// assert_eq!(Journal::default().broken_off_flow(), None);
    /// ```
    pub fn broken_off_flow(&self) -> Option<RecordedFlow> {
        let run = &self.entries.last()?.run;
        let lines = self.of_run(run).map(|entry| (entry.at, &entry.line));
        RecordedFlow::replay(run.clone(), lines)
    }

    /// Returns what a session of a flow came to, if its end was written down.
    ///
    /// ```
    /// use autonoe_core::{Journal, RunId, SessionKey};
    ///
    /// let key = SessionKey { run: RunId::new("run"), number: 1 };
    ///
    /// assert_eq!(Journal::default().session_result(&key), None);
    /// ```
    pub fn session_result(&self, key: &SessionKey) -> Option<&SessionResult> {
        let of_run = self.entries.iter().filter(|entry| entry.run == key.run);
        of_run
            .filter_map(|entry| match &entry.line {
                JournalLine::SessionEnded { number, result } => Some((*number, result)),
                _ => None,
            })
            .find_map(|(number, result)| (number == key.number).then_some(result))
    }

    /// Returns a flow that did not come to its end, to go on with it.
    pub(in crate::project) fn flow(&self, run: &RunId) -> Option<RecordedFlow> {
        let lines = self.of_run(run).map(|entry| (entry.at, &entry.line));
        RecordedFlow::replay(run.clone(), lines)
    }

    /// Tells whether the end of a run or a flow is written down.
    pub(in crate::project) fn has_ended(&self, run: &RunId) -> bool {
        self.of_run(run).any(|entry| {
            matches!(
                entry.line,
                JournalLine::RunEnded { .. } | JournalLine::FlowEnded { .. }
            )
        })
    }

    fn of_run<'a>(&'a self, run: &'a RunId) -> impl Iterator<Item = &'a JournalEntry> {
        self.entries.iter().filter(move |entry| entry.run == *run)
    }
}

/// The largest journal that is read: many times what a new run puts aside.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Returns what the file at `path` holds, or `None` if there is none.
fn bytes_of(path: &Path) -> Result<Option<Vec<u8>>, JournalReadError> {
    read_plain_file(path, LARGEST).map_err(|unread| {
        let path = path.to_owned();
        match unread {
            Unread::NotAFile(found) => JournalReadError::NotAFile { path, found },
            Unread::TooLarge => JournalReadError::TooLarge { path },
            Unread::Refused(source) => JournalReadError::Unreadable { path, source },
        }
    })
}

pub(super) fn parse(
    path: &Path,
    number: usize,
    line: &[u8],
) -> Result<JournalEntry, JournalReadError> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let line = match number {
        1 => without_mark(line),
        _ => line,
    };
    let corrupt = |error| JournalReadError::Corrupt {
        path: path.to_owned(),
        number,
        source: complaint(&error).into(),
    };
    let version: Version = serde_json::from_slice(line).map_err(corrupt)?;
    if version.v != VERSION {
        return Err(JournalReadError::UnknownVersion {
            path: path.to_owned(),
            number,
            version: version.v,
        });
    }
    serde_json::from_slice(line).map_err(corrupt)
}

/// Says what is wrong with one line, without the number that serde_json gives to it: always 1.
fn complaint(error: &serde_json::Error) -> String {
    let said = placeless_complaint(error);
    // A field of the wrong type is complained of at the end of the line.
    if error.is_data() {
        said
    } else {
        format!("{said} at column {}", error.column())
    }
}

#[derive(serde::Deserialize)]
struct Version {
    v: u32,
}

/// Why a journal cannot be read. It was left as it is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalReadError {
    /// The file cannot be read.
    #[error("the journal {path:?} cannot be read; check its owner and permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Something else stands in the place of the file.
    #[error("the journal {path:?} is {}; move it away", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What stands there.
        found: FileKind,
    },
    /// The file is too large to be a journal.
    #[error("the journal {path:?} is larger than 256 MiB; move it away")]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// A line is not what it should be.
    #[error(
        "line {number} of the journal {path:?} cannot be understood; \
         it was left as it is: mend it or move the file away"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A line of a version that this program does not know, most likely a newer one.
    #[error(
        "line {number} of the journal {path:?} is of version {version}, which is not known here; \
         use the version of Autonoe that wrote it, or move the file away"
    )]
    UnknownVersion {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// The version.
        version: u32,
    },
}
