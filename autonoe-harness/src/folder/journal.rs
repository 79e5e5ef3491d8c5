//! Append-only journal of a member, `work.jsonl`: the source of truth about its run.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::engine::{RunEnding, RunOutcome};
use autonoe_core::project::{AppendLog, JournalReadError, LogEntry, LogWriters, ProjectError};
use autonoe_core::run::Durability;
use autonoe_core::time::Epoch;
use jiff::Timestamp;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{FolderError, MemberFolder};
use crate::work::WorkEvent;

/// The name of the file.
const FILE: &str = "work.jsonl";

/// A fact about the run of a member, one line of its journal (`work.jsonl`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct MemberJournalEntry {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// The time at which it was written.
    pub at: Timestamp,
    /// The epoch of the process that wrote it, starting at 1.
    pub epoch: Epoch,
    /// The fact.
    #[serde(flatten)]
    pub fact: MemberFact,
}

/// Something that happened to a member.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum MemberFact {
    /// A process started to serve the folder.
    Serving {
        /// The process ID.
        pid: u32,
    },
    /// An instruction is about to be passed to the run. It becomes part of the prompt of the next
    /// turn.
    #[serde(alias = "instructionGiven")]
    InstructionQueued {
        /// The number of the instruction.
        number: u64,
        /// The text of the instruction.
        text: String,
    },
    /// A turn of an agent that received the instruction is over: it is never delivered again.
    InstructionDelivered {
        /// The number of the instruction.
        number: u64,
    },
    /// A file of the inbox is not an instruction. It stays there.
    InstructionUnreadable {
        /// The name of the file.
        name: String,
        /// The problem with it.
        #[serde(alias = "what")]
        problem: String,
    },
    /// A pause was requested.
    PauseRequested,
    /// A resume was requested.
    ResumeRequested,
    /// A stop was requested.
    StopRequested {
        /// The reason.
        reason: String,
    },
    /// The process released a run that has not ended.
    Released,
    /// The run ended. The first of these facts counts.
    Ended {
        /// The outcome.
        outcome: Box<RunOutcome>,
    },
}

/// The version of the format.
const VERSION: u32 = 1;

/// An entry of the journal of a member.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum JournalEntry {
    /// A fact, recorded by the process that serves the member or by the one that ended it.
    Fact(MemberJournalEntry),
    /// An event of its task loop.
    Work(Box<WorkEvent>),
}

/// The journal of a member. Several processes append to it.
pub(crate) type MemberLogFile = AppendLog<JournalEntry>;

impl LogEntry for JournalEntry {
    const STARTS: &'static [&'static [u8]] = &[b"{\"v\":", b"{\"event\":"];
    const VERSION: u32 = VERSION;

    fn version(&self) -> u32 {
        match self {
            Self::Fact(entry) => entry.version,
            Self::Work(_) => VERSION,
        }
    }
}

impl<'de> Deserialize<'de> for JournalEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The errors of an untagged enum do not name the wrong field.
        let line = Value::deserialize(deserializer)?;
        let entry = if line.get("v").is_some() {
            MemberJournalEntry::deserialize(line).map(Self::Fact)
        } else {
            WorkEvent::deserialize(line).map(|event| Self::Work(Box::new(event)))
        };
        entry.map_err(D::Error::custom)
    }
}

impl JournalEntry {
    /// Returns the time of the entry, if it has one.
    pub(crate) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Fact(entry) => Some(entry.at),
            Self::Work(event) => event.at(),
        }
    }

    /// Returns the log line of the entry, for people.
    pub(super) fn log_line(&self) -> Option<String> {
        match self {
            Self::Fact(MemberJournalEntry {
                epoch,
                fact: MemberFact::Serving { pid },
                ..
            }) => Some(format!("served by process {pid}, epoch {}", epoch.0)),
            Self::Fact(entry) => Some(entry.fact.log_line()),
            Self::Work(event) => event.log_line(),
        }
    }
}

/// Writer of facts for the one process that serves a member.
#[derive(Debug)]
pub(crate) struct MemberJournal {
    path: PathBuf,
    epoch: Epoch,
    log: MemberLogFile,
    delivered_before: BTreeSet<u64>,
}

impl MemberFolder {
    /// Reads the facts in the journal.
    ///
    /// # Errors
    ///
    /// It cannot be read, or a whole line of it cannot be parsed.
    pub fn journal(&self) -> Result<Vec<MemberJournalEntry>, FolderError> {
        Ok(facts_in(self.entries()?))
    }

    /// Reads all entries of the journal; none if it does not exist.
    pub(crate) fn entries(&self) -> Result<Vec<JournalEntry>, FolderError> {
        read_log(&self.file(FILE))
    }

    /// Reads the events of the task loop in the journal.
    #[cfg(feature = "sqlite")]
    pub(crate) fn work_events(&self) -> Result<Vec<WorkEvent>, FolderError> {
        Ok(events_in(self.entries()?))
    }

    /// Opens the journal for the next process that serves the folder, which must hold the lock.
    pub(crate) fn open_journal(&self) -> Result<MemberJournal, FolderError> {
        let path = self.file(FILE);
        let facts = facts_in(self.entries()?);
        let log = open_log(&path)?;
        let next = last_epoch(&facts).next();
        let epoch = next.ok_or_else(|| FolderError::corrupt(&path, "all epochs are used"))?;
        let delivered = facts.into_iter().filter_map(|entry| match entry.fact {
            MemberFact::InstructionDelivered { number } => Some(number),
            _ => None,
        });
        Ok(MemberJournal {
            delivered_before: delivered.collect(),
            path,
            epoch,
            log,
        })
    }

    /// Records the end of the run, unless one was recorded before, and returns the first outcome.
    pub(super) fn record_end(
        &self,
        outcome: &RunOutcome,
        at: Timestamp,
    ) -> Result<RunOutcome, FolderError> {
        let path = self.file(FILE);
        let mut first = None;
        let decide = |entries| {
            let facts = facts_in(entries);
            first = outcome_in(&facts).cloned();
            let entry = MemberJournalEntry {
                version: VERSION,
                at,
                epoch: last_epoch(&facts),
                fact: MemberFact::Ended {
                    outcome: Box::new(outcome.clone()),
                },
            };
            first.is_none().then_some(JournalEntry::Fact(entry))
        };
        let written = open_log(&path)?.append_if(Durability::Synced, decide);
        written.map_err(|error| unwritable(&path, error))?;
        Ok(first.unwrap_or_else(|| outcome.clone()))
    }
}

/// Opens the journal at `path` for one of its writers, or creates it.
pub(crate) fn open_log(path: &Path) -> Result<MemberLogFile, FolderError> {
    let opened = MemberLogFile::open_for(LogWriters::Several, path);
    opened.map_err(|error| unwritable(path, error))
}

/// Reads the journal at `path`; a missing file has no entries.
pub(crate) fn read_log(path: &Path) -> Result<Vec<JournalEntry>, FolderError> {
    MemberLogFile::read(path).map_err(|error| unreadable(path, error))
}

/// Appends an entry to the journal at `path`, durably.
pub(crate) fn append_entry(
    log: &MemberLogFile,
    path: &Path,
    entry: &JournalEntry,
) -> Result<(), FolderError> {
    let written = log.append(entry, Durability::Synced);
    written.map_err(|error| unwritable(path, error))
}

fn unreadable(path: &Path, error: JournalReadError) -> FolderError {
    match error {
        JournalReadError::Unreadable { source, .. } => FolderError::unreadable(path, source),
        JournalReadError::UnknownVersion { version, .. } => FolderError::OtherVersion {
            path: path.to_owned(),
            found: version,
            known: VERSION,
        },
        error => FolderError::corrupt(path, error.reason()),
    }
}

fn unwritable(path: &Path, error: ProjectError) -> FolderError {
    match error {
        ProjectError::Journal(error) => unreadable(path, error),
        ProjectError::CorruptLogEnd { .. } => {
            FolderError::corrupt(path, "it does not end with an entry")
        }
        ProjectError::Unreadable { source, .. } => FolderError::unreadable(path, source),
        ProjectError::Unwritable { source, .. } => FolderError::unwritable(path, source),
        error => FolderError::unwritable(path, io::Error::other(error)),
    }
}

pub(super) fn facts_in(entries: Vec<JournalEntry>) -> Vec<MemberJournalEntry> {
    let facts = entries.into_iter().filter_map(|entry| match entry {
        JournalEntry::Fact(fact) => Some(fact),
        JournalEntry::Work(_) => None,
    });
    facts.collect()
}

/// Returns the events of the task loop among the entries of a journal.
pub(crate) fn events_in(entries: Vec<JournalEntry>) -> Vec<WorkEvent> {
    let events = entries.into_iter().filter_map(|entry| match entry {
        JournalEntry::Work(event) => Some(*event),
        JournalEntry::Fact(_) => None,
    });
    events.collect()
}

/// Returns the epoch of the last process; 0 before the first.
pub(super) fn last_epoch(facts: &[MemberJournalEntry]) -> Epoch {
    let epochs = facts.iter().map(|entry| entry.epoch);
    epochs.max().unwrap_or_default()
}

/// Returns the first recorded outcome.
pub(super) fn outcome_in(facts: &[MemberJournalEntry]) -> Option<&RunOutcome> {
    facts.iter().find_map(|entry| match &entry.fact {
        MemberFact::Ended { outcome } => Some(&**outcome),
        _ => None,
    })
}

impl MemberFact {
    /// Returns the log line of the fact, for people.
    pub(crate) fn log_line(&self) -> String {
        match self {
            Self::Serving { pid } => format!("served by process {pid}"),
            Self::InstructionQueued { number, .. } => {
                format!("instruction {number} waits for a turn of the agent")
            }
            Self::InstructionDelivered { number } => format!("instruction {number} delivered"),
            Self::InstructionUnreadable { name, problem } => {
                format!("warning: {name} in the inbox is not an instruction: {problem}")
            }
            Self::PauseRequested => "pause requested".to_owned(),
            Self::ResumeRequested => "resume requested".to_owned(),
            Self::StopRequested { reason } => format!("stop requested: {reason}"),
            Self::Released => "the process ended; the run can be resumed".to_owned(),
            Self::Ended { outcome } => match &outcome.ending {
                RunEnding::Succeeded => "completed".to_owned(),
                RunEnding::Failed { failure } => format!("failed: {}", failure.message),
                RunEnding::Cancelled { reason } => format!("stopped: {reason}"),
            },
        }
    }
}

impl MemberJournal {
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns whether an agent of an earlier process received the instruction.
    pub(crate) fn was_delivered(&self, number: u64) -> bool {
        self.delivered_before.contains(&number)
    }

    /// Records a fact. Once this returns, a crash does not undo it.
    pub(crate) fn write(&self, at: Timestamp, fact: MemberFact) -> Result<(), FolderError> {
        let entry = MemberJournalEntry {
            version: VERSION,
            at,
            epoch: self.epoch,
            fact,
        };
        append_entry(&self.log, &self.path, &JournalEntry::Fact(entry))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::strategy::MemberId;

    fn folder(root: &Path) -> MemberFolder {
        let folder = MemberFolder::new(root, &MemberId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        folder
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn each_process_has_an_epoch_and_knows_delivered_instructions() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());

        let first = folder.open_journal().expect("writable");
        let text = "Use Postgres.".to_owned();
        let queued = MemberFact::InstructionQueued { number: 1, text };
        first.write(now(), queued).expect("writable");
        let delivered = MemberFact::InstructionDelivered { number: 1 };
        first.write(now(), delivered).expect("writable");
        let second = folder.open_journal().expect("writable");

        assert_eq!((first.epoch(), second.epoch()), (Epoch(1), Epoch(2)));
        assert!(!first.was_delivered(1) && second.was_delivered(1) && !second.was_delivered(2));
    }

    #[test]
    fn a_torn_line_is_truncated_and_anything_else_is_kept() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let path = folder.file("work.jsonl");
        let journal = folder.open_journal().expect("writable");
        journal
            .write(now(), MemberFact::PauseRequested)
            .expect("writable");
        let whole = fs::read(&path).expect("there");

        fs::write(&path, [&whole[..], b"{\"v\":1,\"at"].concat()).expect("writable");
        folder
            .open_journal()
            .expect("a torn line was never acknowledged");
        assert_eq!(fs::read(&path).expect("there"), whole);

        for foreign in ["my notes", "{\"v\":1}\n", "nonsense\n"] {
            let with = [&whole[..], foreign.as_bytes()].concat();
            fs::write(&path, &with).expect("writable");
            let refused = folder.open_journal();
            assert!(
                matches!(refused, Err(FolderError::Corrupt { .. })),
                "{foreign}"
            );
            assert_eq!(fs::read(&path).expect("there"), with, "{foreign}");
        }
    }

    #[test]
    fn a_line_of_another_version_is_an_error_with_the_version_and_the_file_stays() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let path = folder.file("work.jsonl");
        let journal = folder.open_journal().expect("writable");
        journal
            .write(now(), MemberFact::PauseRequested)
            .expect("writable");
        let whole = fs::read_to_string(&path).expect("there");

        for newer in [
            "{\"v\":2,\"at\":\"1970-01-01T00:00:00Z\",\"epoch\":1,\"fact\":\"pauseRequested\"}\n",
            "{\"v\":2,\"what\":{\"happened\":[1]}}\n",
            "{\"what\":\"happened\",\"v\":2}\n",
            "{\"event\":\"closed\",\"undelivered\":[],\"v\":2}\n",
        ] {
            let with = [&whole, newer].concat();
            fs::write(&path, &with).expect("writable");
            for refused in [folder.open_journal().err(), folder.journal().err()] {
                let error = refused.expect("another version");
                assert_eq!(error.code(), "other_version", "{newer}");
                let message = format!("{path:?} has version 2, and this program reads version 1");
                assert!(error.to_string().starts_with(&message), "{error}");
            }
            assert_eq!(fs::read_to_string(&path).expect("there"), with, "{newer}");
        }
    }

    #[test]
    fn the_format_of_a_line_is_stable() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let journal = folder.open_journal().expect("writable");

        for fact in [MemberFact::Serving { pid: 7 }, MemberFact::PauseRequested] {
            journal.write(now(), fact).expect("writable");
        }

        let text = fs::read_to_string(folder.file("work.jsonl")).expect("there");
        assert_eq!(
            text,
            "{\"v\":1,\"at\":\"1970-01-01T00:00:00Z\",\"epoch\":1,\"fact\":\"serving\",\"pid\":7}\n\
             {\"v\":1,\"at\":\"1970-01-01T00:00:00Z\",\"epoch\":1,\"fact\":\"pauseRequested\"}\n"
        );
    }

    #[test]
    fn the_first_recorded_end_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        folder.open_journal().expect("writable");

        let outcomes: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|number| {
                    let folder = &folder;
                    let outcome = RunOutcome::cancelled(format!("by {number}"));
                    scope.spawn(move || folder.record_end(&outcome, now()))
                })
                .collect();
            let ended = threads.into_iter().map(|thread| thread.join());
            ended.map(|ended| ended.expect("no panic")).collect()
        });

        let facts = folder.journal().expect("readable");
        let first = outcome_in(&facts).expect("it ended");
        assert_eq!(facts.len(), 1);
        for outcome in outcomes {
            assert_eq!(outcome.expect("writable"), *first);
        }
    }

    #[test]
    fn a_fact_is_never_written_to_a_replaced_journal() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let path = folder.file("work.jsonl");
        let removed: fn(&Path) = |path| fs::remove_file(path).expect("removable");
        let replaced: fn(&Path) = |path| {
            fs::copy(path, path.with_extension("copy")).expect("readable");
            fs::rename(path.with_extension("copy"), path).expect("movable");
        };
        for change in [removed, replaced] {
            let journal = folder.open_journal().expect("writable");
            journal
                .write(now(), MemberFact::PauseRequested)
                .expect("writable");

            change(&path);

            let refused = journal.write(now(), MemberFact::ResumeRequested);
            assert!(
                matches!(refused, Err(FolderError::Unwritable { .. })),
                "{refused:?}"
            );
        }
    }

    #[test]
    fn an_end_is_recorded_after_a_torn_line_of_a_killed_process() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let journal = folder.open_journal().expect("writable");
        journal
            .write(now(), MemberFact::PauseRequested)
            .expect("writable");
        let path = folder.file("work.jsonl");
        let whole = fs::read(&path).expect("there");
        fs::write(&path, [&whole[..], b"{\"event\":\"clo"].concat()).expect("writable");

        let outcome = RunOutcome::cancelled("enough");
        folder.record_end(&outcome, now()).expect("writable");
        journal
            .write(now(), MemberFact::Released)
            .expect("the length is read again");

        assert_eq!(folder.journal().expect("readable").len(), 3);
    }

    #[test]
    fn a_symlink_in_place_of_the_journal_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, target) = (folder(root.path()), root.path().join("target"));
        std::os::unix::fs::symlink(&target, folder.file("work.jsonl")).expect("writable");

        assert!(folder.open_journal().is_err());
        assert!(!target.exists());
    }
}
