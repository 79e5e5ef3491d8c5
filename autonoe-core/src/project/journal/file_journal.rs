//! [`FileJournal`], which writes the journal file of a project, and its [`JournalEntry`] lines.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::project::append_log::rotate;
use crate::project::{AppendLog, LogEntry, Project, ProjectError};
use crate::run::{Durability, JournalError, JournalLine, RunJournal};
use crate::time::RunId;

/// Writes the journal of a project, `.autonoe/journal.jsonl`: one line per fact.
///
/// One process writes at a time: hold the [`RunLock`](super::super::RunLock). A partial last line
/// of a killed process is cut off when the file is opened again; that line was never acknowledged.
/// Any other text at the end is foreign data and an error. A large file is rotated at the start of
/// a new run. Lines are only written to the file that was opened: if it was moved, removed,
/// replaced or written to by another process meanwhile, that is an error.
///
/// ```
/// use autonoe_core::project::{FileJournal, Journal};
/// use autonoe_core::Project;
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let journal = FileJournal::open(&project)?;
/// drop(journal);
///
/// assert!(Journal::read(&project.journal_path())?.run_histories().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileJournal {
    log: AppendLog<JournalEntry>,
}

/// The size in bytes from which a new run rotates the journal.
const LARGE: u64 = 16 * 1024 * 1024;

/// The number of rotated journals that are kept.
pub(super) const MAX_ROTATED: u32 = 3;

impl FileJournal {
    /// Opens the journal of `project`, to resume a run or to start one.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or repaired.
    pub fn open(project: &Project) -> Result<Self, ProjectError> {
        project.ensure_state_dir()?;
        let log = AppendLog::open(&project.journal_path())?;
        Ok(Self { log })
    }

    /// Opens the journal of `project` for a new run: a large one is rotated first.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, repaired or rotated.
    pub fn open_for_new_run(project: &Project) -> Result<Self, ProjectError> {
        let path = project.journal_path();
        rotate(&path, LARGE, MAX_ROTATED)
            .map_err(|source| ProjectError::unwritable(&path, source))?;
        Self::open(project)
    }
}

impl RunJournal for FileJournal {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let entry = JournalEntry {
            version: VERSION,
            run: run.clone(),
            at,
            line: line.clone(),
        };
        self.log
            .append(&entry, durability)
            .map_err(JournalError::new)
    }
}

/// The version of the format; a reader refuses other versions.
pub(super) const VERSION: u32 = 1;

/// One line of a journal file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JournalEntry {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// The run.
    pub run: RunId,
    /// The time of the entry.
    pub at: Timestamp,
    /// The recorded fact.
    #[serde(flatten)]
    pub line: JournalLine,
}

impl LogEntry for JournalEntry {
    const STARTS: &'static [&'static [u8]] = &[b"{\"v\":"];
    const VERSION: u32 = VERSION;

    fn version(&self) -> u32 {
        self.version
    }
}

/// Returns the run of a line in the format of this version, without parsing the rest; `None` for
/// any other line.
pub(super) fn parse_run(line: &[u8]) -> Option<&str> {
    let rest = line.strip_prefix(b"{\"v\":1,\"run\":\"")?;
    let end = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
    match rest[end] {
        b'"' => std::str::from_utf8(&rest[..end]).ok(),
        // Escaped characters are left to the parser.
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::JournalLine;

    #[test]
    fn the_run_of_a_line_is_known_from_its_beginning() {
        for (run, is_known) in [("shop-1", true), ("é", true), ("a\"b", false), ("", true)] {
            let entry = JournalEntry {
                version: VERSION,
                run: RunId::new(run),
                at: Timestamp::UNIX_EPOCH,
                line: JournalLine::FlowResumed {
                    epoch: crate::time::Epoch(1),
                },
            };
            let line = serde_json::to_vec(&entry).expect("it serialises");

            assert_eq!(parse_run(&line), is_known.then_some(run), "{run:?}");
        }
        for line in ["", "{\"v\":2,\"run\":\"a\"}", "{\"v\":1,\"run\":\"a", "{ }"] {
            assert_eq!(parse_run(line.as_bytes()), None, "{line}");
        }
    }
}
