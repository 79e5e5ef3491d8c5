//! [`Journal`], the parsed entries of a journal file.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::file_journal::{JournalEntry, MAX_ROTATED};
use super::run_history::RunHistory;
use crate::agent::SessionReport;
use crate::project::append_log::rotated;
use crate::project::safe_read::ReadError;
use crate::project::{AppendLog, FileKind, Project};
use crate::run::{JournalLine, LedgerHistory, RecordedRun, RunFact};
use crate::session::RecordedFlow;
use crate::time::{RunId, SessionKey};

/// The entries of a journal file, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    entries: Vec<JournalEntry>,
}

impl Journal {
    /// Reads the journal at `path`; a missing file is an empty journal.
    ///
    /// A partial line at the end, as a kill leaves it, is skipped. Unknown fields are ignored: a
    /// writer that adds a field that readers must know raises the version, and lines of another
    /// version are refused.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is larger than 256 MiB, or has a whole line that cannot be parsed.
    pub fn read(path: &Path) -> Result<Self, JournalReadError> {
        let entries = AppendLog::read(path)?;
        Ok(Self { entries })
    }

    /// Reads the journal of `project`, after the rotated ones.
    ///
    /// ```
    /// use autonoe_core::project::Journal;
    /// use autonoe_core::Project;
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
        let mut entries = Vec::new();
        for path in journal_paths(project) {
            entries.extend(Self::read(&path)?.entries);
        }
        Ok(Self { entries })
    }

    /// Returns all lines.
    pub fn entries(&self) -> &[JournalEntry] {
        &self.entries
    }

    /// Returns the histories of all runs, in the order of their start.
    pub fn run_histories(&self) -> Vec<RunHistory> {
        let mut places: HashMap<&RunId, usize> = HashMap::new();
        let mut histories: Vec<RunHistory> = Vec::new();
        for entry in &self.entries {
            let place = *places.entry(&entry.run).or_insert_with(|| {
                histories.push(RunHistory::new(entry.run.clone()));
                histories.len() - 1
            });
            histories[place].add(entry);
        }
        histories
    }

    /// Reads the ledger history from the journal of `project`.
    pub(in crate::project) fn read_ledger_history(
        project: &Project,
    ) -> Result<LedgerHistory, JournalReadError> {
        let history = Self::read(&project.journal_path())?.ledger_history();
        if history.is_empty() {
            // The last save may be recorded in a rotated journal.
            Ok(Self::read_all(project)?.ledger_history())
        } else {
            Ok(history)
        }
    }

    /// Returns the journal's records of the ledger.
    pub(in crate::project) fn ledger_history(&self) -> LedgerHistory {
        let lines = self.entries.iter().map(|entry| (&entry.run, &entry.line));
        LedgerHistory::from_lines(lines)
    }

    /// Returns a clause that names the recorded deliverables; `None` if there are none.
    pub(in crate::project) fn recorded_deliverables(&self) -> Option<String> {
        match self.deliverable_count() {
            // Only a ledger with deliverables has a hash in the journal.
            0 if self.ledger_history().is_empty() => None,
            0 => Some("the journal beside it records its deliverables".to_owned()),
            1 => Some("the journal beside it records 1 deliverable".to_owned()),
            count => Some(format!(
                "the journal beside it records {count} deliverables"
            )),
        }
    }

    /// Returns the number of recorded deliverables: those that changed, or all that a run found in
    /// the ledger.
    fn deliverable_count(&self) -> usize {
        let mut changed = HashSet::new();
        let mut found = 0;
        for entry in &self.entries {
            match &entry.line {
                JournalLine::StatusChanged { change, .. } => {
                    changed.insert(&change.id);
                }
                JournalLine::Fact {
                    fact:
                        RunFact::Started { ledger, .. }
                        | RunFact::SessionEnded {
                            ledger: Ok(ledger), ..
                        },
                    ..
                } => found = ledger.counts.total,
                _ => {}
            }
        }
        found.max(changed.len())
    }

    /// Returns the last run if it was interrupted, to resume it; `None` if it was a flow.
    pub fn interrupted_run(&self) -> Option<RecordedRun> {
        let run = &self.entries.last()?.run;
        let lines = self.run_entries(run).map(|entry| &entry.line);
        RecordedRun::replay(run.clone(), lines)
    }

    /// Returns the last run if it was a flow and was interrupted, to resume it.
    ///
    /// ```
    /// use autonoe_core::project::Journal;
    ///
    /// assert_eq!(Journal::default().interrupted_flow(), None);
    /// ```
    pub fn interrupted_flow(&self) -> Option<RecordedFlow> {
        let run = &self.entries.last()?.run;
        let lines = self.run_entries(run).map(|entry| (entry.at, &entry.line));
        RecordedFlow::replay(run.clone(), lines)
    }

    /// Returns the result of a flow's session, if its end is recorded.
    ///
    /// ```
    /// use autonoe_core::project::Journal;
    /// use autonoe_core::time::SessionKey;
    /// use autonoe_core::RunId;
    ///
    /// let key = SessionKey { run: RunId::new("run"), number: 1 };
    ///
    /// assert_eq!(Journal::default().session_result(&key), None);
    /// ```
    pub fn session_result(&self, key: &SessionKey) -> Option<&SessionReport> {
        let run_entries = self.entries.iter().filter(|entry| entry.run == key.run);
        run_entries
            .filter_map(|entry| match &entry.line {
                JournalLine::SessionEnded { number, result } => Some((*number, result)),
                _ => None,
            })
            .find_map(|(number, result)| (number == key.number).then_some(result))
    }

    /// Returns a flow that has not ended, to resume it.
    pub(in crate::project) fn flow(&self, run: &RunId) -> Option<RecordedFlow> {
        let lines = self.run_entries(run).map(|entry| (entry.at, &entry.line));
        RecordedFlow::replay(run.clone(), lines)
    }

    /// Returns whether the end of a run or a flow is recorded.
    pub(in crate::project) fn has_ended(&self, run: &RunId) -> bool {
        self.run_entries(run).any(|entry| {
            matches!(
                entry.line,
                JournalLine::RunEnded { .. } | JournalLine::FlowEnded { .. }
            )
        })
    }

    fn run_entries<'a>(&'a self, run: &'a RunId) -> impl Iterator<Item = &'a JournalEntry> {
        self.entries.iter().filter(move |entry| entry.run == *run)
    }
}

/// Returns the journals of `project`, oldest first.
pub(super) fn journal_paths(project: &Project) -> impl Iterator<Item = PathBuf> {
    let path = project.journal_path();
    let current = path.clone();
    let earlier = (1..=MAX_ROTATED)
        .rev()
        .map(move |number| rotated(&path, number));
    earlier.chain([current])
}

/// An error of reading a journal. The journal stays unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalReadError {
    /// The file cannot be read.
    #[error("the journal {path:?} cannot be read; check its owner and permissions")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is no regular file at the path of the journal.
    #[error("the journal {path:?} is {}; move it away", found.instead_of("a file"))]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// The kind of the file at the path.
        found: FileKind,
    },
    /// The file is too large to be a journal.
    #[error("the journal {path:?} is larger than 256 MiB; move it away")]
    TooLarge {
        /// The path.
        path: PathBuf,
    },
    /// A line cannot be parsed.
    #[error(
        "line {number} of the journal {path:?} cannot be parsed; the file is unchanged: repair \
         it or move it away"
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        number: usize,
        /// The error of the line.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A line of a version that this program does not know, most likely a newer one.
    #[error(
        "line {number} of the journal {path:?} has the unknown version {version}; use the \
         version of Autonoe that wrote it, or move the file away"
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

impl JournalReadError {
    /// Returns the reason without the path of the file.
    pub fn reason(&self) -> String {
        match self {
            Self::Unreadable { source, .. } => source.to_string(),
            Self::NotAFile { found, .. } => format!("it is {}", found.instead_of("a file")),
            Self::TooLarge { .. } => "it is larger than 256 MiB".to_owned(),
            Self::Corrupt { number, source, .. } => format!("line {number}: {source}"),
            Self::UnknownVersion {
                number, version, ..
            } => format!("line {number}: it has version {version}"),
        }
    }
}

/// Creates the error for a journal at `path` that cannot be read.
pub(in crate::project) fn unread(path: &Path, unread: ReadError) -> JournalReadError {
    let path = path.to_owned();
    match unread {
        ReadError::NotAFile(found) => JournalReadError::NotAFile { path, found },
        ReadError::TooLarge => JournalReadError::TooLarge { path },
        ReadError::Refused(source) => JournalReadError::Unreadable { path, source },
    }
}

/// Creates the error for a line that cannot be parsed.
pub(in crate::project) fn corrupt(
    path: &Path,
    number: usize,
    reason: impl Into<String>,
) -> JournalReadError {
    let mut reason: String = reason.into();
    if reason.contains("unknown name `") {
        reason.push_str("; a newer version of Autonoe may have written this journal");
    }
    JournalReadError::Corrupt {
        path: path.to_owned(),
        number,
        source: reason.into(),
    }
}
