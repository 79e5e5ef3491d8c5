//! Reads a journal file.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::entry::{JournalEntry, VERSION};
use super::lines::{Lines, Position, open};
use super::read_error::{JournalReadError, corrupt};
use super::story::{RunStory, RunStoryBuilder};
use super::writer::{KEPT, aside};
use crate::domain::{RunId, SessionKey, SessionResult};
use crate::project::Project;
use crate::project::json_words::placeless_complaint;
use crate::project::text_file::without_mark;
use crate::run::{JournalLine, LedgerHistory, RecordedFlow, RecordedRun, RunFact};

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
        let mut entries = Vec::new();
        if let Some(file) = open(path, LARGEST)? {
            let mut lines = Lines::new(path, file, Position::START);
            while let Some((at, line)) = lines.next_line()? {
                entries.push(parse(path, at.number, line)?);
            }
        }
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
        let mut entries = Vec::new();
        for path in journals_of(project) {
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
        let mut places: HashMap<&RunId, usize> = HashMap::new();
        let mut stories: Vec<RunStoryBuilder> = Vec::new();
        for entry in &self.entries {
            let place = *places.entry(&entry.run).or_insert_with(|| {
                stories.push(RunStoryBuilder::new(entry.run.clone()));
                stories.len() - 1
            });
            stories[place].add(entry);
        }
        stories.into_iter().map(RunStoryBuilder::build).collect()
    }

    /// Reads what the journal of `project` records of the ledger.
    pub(in crate::project) fn read_ledger_history(
        project: &Project,
    ) -> Result<LedgerHistory, JournalReadError> {
        let history = Self::read(&project.journal_path())?.ledger_history();
        match history.is_empty() {
            // The last save may be recorded in a journal that was put aside.
            true => Ok(Self::read_all(project)?.ledger_history()),
            false => Ok(history),
        }
    }

    /// Returns what the journal records of the ledger.
    pub(in crate::project) fn ledger_history(&self) -> LedgerHistory {
        let lines = self.entries.iter().map(|entry| (&entry.run, &entry.line));
        LedgerHistory::from_lines(lines)
    }

    /// Returns a clause that says which deliverables the journal records; `None` if it records none.
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

    /// Returns how many deliverables the journal records: those that changed, or all that a run
    /// found in the ledger.
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
    pub fn broken_off(&self) -> Option<RecordedRun> {
        let run = &self.entries.last()?.run;
        let lines = self.of_run(run).map(|entry| &entry.line);
        RecordedRun::replay(run.clone(), lines)
    }

    /// Returns the last run if it was a flow and was interrupted, to resume it.
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

/// Returns the journals of `project`, oldest first.
pub(super) fn journals_of(project: &Project) -> impl Iterator<Item = PathBuf> {
    let path = project.journal_path();
    let current = path.clone();
    let earlier = (1..=KEPT).rev().map(move |number| aside(&path, number));
    earlier.chain([current])
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
    #[cfg(test)]
    PARSED.with(|parsed| parsed.set(parsed.get() + 1));
    let unknown = |version| JournalReadError::UnknownVersion {
        path: path.to_owned(),
        number,
        version,
    };
    match serde_json::from_slice::<JournalEntry>(line) {
        Ok(entry) if entry.version == VERSION => Ok(entry),
        Ok(entry) => Err(unknown(entry.version)),
        // A line of another version need not have the fields of this one.
        Err(error) => match serde_json::from_slice(line) {
            Ok(Version { v }) if v != VERSION => Err(unknown(v)),
            Ok(_) => Err(corrupt(path, number, complaint(&error))),
            Err(error) => Err(corrupt(path, number, complaint(&error))),
        },
    }
}

#[cfg(test)]
thread_local! {
    static PARSED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Returns how many lines this thread has parsed.
#[cfg(test)]
pub(super) fn parsed_lines() -> usize {
    PARSED.with(std::cell::Cell::get)
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
