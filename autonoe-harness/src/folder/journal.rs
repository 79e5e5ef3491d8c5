//! What happened to a sub-harness, a fact in each line.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use autonoe_core::{Epoch, RunEnding, open_file_to_append};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::file::read_bytes;
use super::{FolderError, HarnessFolder};

/// One line of `journal.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HarnessJournalEntry {
    /// The version of the format.
    #[serde(rename = "v")]
    pub version: u32,
    /// When it was written.
    pub at: Timestamp,
    /// The process that wrote it, counted from 1.
    pub epoch: Epoch,
    /// What happened.
    #[serde(flatten)]
    pub fact: HarnessFact,
}

/// What happened to a sub-harness.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "fact",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum HarnessFact {
    /// A process took the folder.
    Serving {
        /// Its number.
        pid: u32,
    },
    /// An instruction is about to be handed to the run. It is in the prompt of the next turn.
    InstructionGiven {
        /// Its number.
        number: u64,
        /// What it says.
        text: String,
    },
    /// A turn of an agent that had the instruction is over: it is never told again.
    InstructionTold {
        /// Its number.
        number: u64,
    },
    /// A file of the inbox holds no instruction. It stays there.
    InstructionUnreadable {
        /// The name of the file.
        name: String,
        /// What is wrong with it.
        what: String,
    },
    /// The run was asked to hold.
    PauseAsked,
    /// The run was asked to go on.
    ResumeAsked,
    /// The run was asked to end.
    StopAsked {
        /// Why.
        reason: String,
    },
    /// The process let go of a run that has not ended.
    BrokenOff,
    /// The run ended.
    Ended {
        /// How.
        #[serde(flatten)]
        ending: RunEnding,
    },
}

/// The version of the format.
const VERSION: u32 = 1;

/// What each line of ours begins with.
const START: &[u8] = b"{\"v\":";

/// The journal of a sub-harness, for the one process that serves it.
#[derive(Debug)]
pub(crate) struct HarnessJournal {
    path: PathBuf,
    epoch: Epoch,
    file: Mutex<File>,
    told_before: BTreeSet<u64>,
}

impl HarnessFolder {
    /// Reads the journal: what happened so far.
    ///
    /// # Errors
    ///
    /// It cannot be read, or a whole line of it cannot be understood.
    pub fn journal(&self) -> Result<Vec<HarnessJournalEntry>, FolderError> {
        Ok(self.read_journal()?.0)
    }

    /// Reads the journal, and returns how many bytes of it are whole lines.
    fn read_journal(&self) -> Result<(Vec<HarnessJournalEntry>, u64), FolderError> {
        let path = self.file("journal.jsonl");
        let bytes = read_bytes(&path)?.unwrap_or_default();
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let (lines, tail) = bytes.split_at(whole.map_or(0, |end| end + 1));
        let begins_like_one = tail.iter().zip(START).all(|(byte, own)| byte == own);
        if !begins_like_one && tail.iter().any(|byte| *byte != 0) {
            let what = "something that is no line of ours stands at its end";
            return Err(FolderError::corrupt(&path, what));
        }
        let mut entries = Vec::new();
        for (index, line) in lines.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let entry: Result<HarnessJournalEntry, _> = serde_json::from_slice(line);
            let wrong =
                |what: String| FolderError::corrupt(&path, format!("line {}: {what}", index + 1));
            let entry = entry.map_err(|error| wrong(error.to_string()))?;
            if entry.version != VERSION {
                return Err(wrong(format!("it has version {}", entry.version)));
            }
            entries.push(entry);
        }
        Ok((entries, lines.len() as u64))
    }

    /// Opens the journal for the next process that serves the folder, which holds the lock.
    pub(crate) fn open_journal(&self) -> Result<HarnessJournal, FolderError> {
        let path = self.file("journal.jsonl");
        let unwritable = |source| FolderError::unwritable(&path, source);
        let (entries, whole) = self.read_journal()?;
        let file = open_file_to_append(&path).map_err(unwritable)?;
        // What a kill left of the last line was never acknowledged.
        if file.metadata().map_err(unwritable)?.len() > whole {
            file.set_len(whole).map_err(unwritable)?;
        }
        let folder = File::open(self.path()).and_then(|folder| folder.sync_all());
        folder.map_err(unwritable)?;
        let epoch = entries.iter().map(|entry| entry.epoch).max();
        let next = epoch.unwrap_or_default().next();
        let epoch = next.ok_or_else(|| FolderError::corrupt(&path, "its epochs are used up"))?;
        let told = entries.into_iter().filter_map(|entry| match entry.fact {
            HarnessFact::InstructionTold { number } => Some(number),
            _ => None,
        });
        Ok(HarnessJournal {
            told_before: told.collect(),
            path,
            epoch,
            file: Mutex::new(file),
        })
    }
}

impl HarnessJournal {
    pub(crate) fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Tells whether an agent was told the instruction before this process.
    pub(crate) fn was_told(&self, number: u64) -> bool {
        self.told_before.contains(&number)
    }

    /// Writes a fact down. Once this returns, a crash does not undo it.
    pub(crate) fn write(&self, at: Timestamp, fact: HarnessFact) -> Result<(), FolderError> {
        let unwritable = |source| FolderError::unwritable(&self.path, source);
        let entry = HarnessJournalEntry {
            version: VERSION,
            at,
            epoch: self.epoch,
            fact,
        };
        let line = serde_json::to_vec(&entry).map_err(|error| unwritable(error.into()));
        let mut line = line?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let before = file.metadata().map_err(unwritable)?.len();
        // In one call, so that a kill leaves a whole line, a torn last one, or nothing.
        let written = file.write_all(&line).and_then(|()| file.sync_data());
        if written.is_err() {
            // On a full disk a part may stand there, and the next line would be glued to it.
            file.set_len(before).map_err(unwritable)?;
        }
        written.map_err(unwritable)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::HarnessId;

    fn folder(root: &Path) -> HarnessFolder {
        let folder = HarnessFolder::of(root, &HarnessId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        folder
    }

    fn now() -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    #[test]
    fn each_process_has_an_epoch_and_knows_what_was_told() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());

        let first = folder.open_journal().expect("writable");
        let text = "Use Postgres.".to_owned();
        let given = HarnessFact::InstructionGiven { number: 1, text };
        first.write(now(), given).expect("writable");
        let told = HarnessFact::InstructionTold { number: 1 };
        first.write(now(), told).expect("writable");
        let second = folder.open_journal().expect("writable");

        assert_eq!((first.epoch(), second.epoch()), (Epoch(1), Epoch(2)));
        assert!(!first.was_told(1) && second.was_told(1) && !second.was_told(2));
    }

    #[test]
    fn a_torn_line_is_cut_off_and_anything_else_is_kept() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let path = folder.file("journal.jsonl");
        let journal = folder.open_journal().expect("writable");
        journal
            .write(now(), HarnessFact::PauseAsked)
            .expect("writable");
        let whole = fs::read(&path).expect("there");

        fs::write(&path, [&whole[..], b"{\"v\":1,\"at"].concat()).expect("writable");
        folder.open_journal().expect("a torn line is nobody's");
        assert_eq!(fs::read(&path).expect("there"), whole);

        for foreign in [
            "my notes",
            "{\"v\":1}\n",
            "nonsense\n",
            "{\"v\":9,\"at\":\"1970-01-01T00:00:00Z\",\"epoch\":1,\"fact\":\"pauseAsked\"}\n",
        ] {
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
    fn a_line_is_what_others_read() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = folder(root.path());
        let journal = folder.open_journal().expect("writable");

        let ending = RunEnding::Cancelled {
            reason: "enough".into(),
        };
        journal
            .write(now(), HarnessFact::Serving { pid: 7 })
            .expect("writable");
        journal
            .write(now(), HarnessFact::Ended { ending })
            .expect("writable");

        let text = fs::read_to_string(folder.file("journal.jsonl")).expect("there");
        assert_eq!(
            text,
            "{\"v\":1,\"at\":\"1970-01-01T00:00:00Z\",\"epoch\":1,\"fact\":\"serving\",\"pid\":7}\n\
             {\"v\":1,\"at\":\"1970-01-01T00:00:00Z\",\"epoch\":1,\"fact\":\"ended\",\"ending\":\"cancelled\",\"reason\":\"enough\"}\n"
        );
    }

    #[test]
    fn a_symlink_in_place_of_the_journal_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let (folder, target) = (folder(root.path()), root.path().join("target"));
        std::os::unix::fs::symlink(&target, folder.file("journal.jsonl")).expect("writable");

        assert!(folder.open_journal().is_err());
        assert!(!target.exists());
    }
}
