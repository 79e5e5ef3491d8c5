//! Reads a journal file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::entry::{JournalEntry, VERSION, is_torn_line};
use super::story::RunStory;
use crate::domain::RunId;
use crate::run::RecordedRun;

/// What a journal file holds, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal {
    entries: Vec<JournalEntry>,
}

impl Journal {
    /// Reads the journal at `path`; a missing file is an empty journal.
    ///
    /// The beginning of a line at the end is what a kill leaves: it is left out.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or a whole line of it cannot be understood.
    pub fn read(path: &Path) -> Result<Self, JournalReadError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => {
                return Err(JournalReadError::Unreadable {
                    path: path.to_owned(),
                    source,
                });
            }
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

    /// Returns the last run if it broke off, to go on with it.
    pub fn broken_off(&self) -> Option<RecordedRun> {
        let run = &self.entries.last()?.run;
        let lines = self.of_run(run).map(|entry| &entry.line);
        RecordedRun::replay(run.clone(), lines)
    }

    fn of_run<'a>(&'a self, run: &'a RunId) -> impl Iterator<Item = &'a JournalEntry> {
        self.entries.iter().filter(move |entry| entry.run == *run)
    }
}

fn parse(path: &Path, number: usize, line: &[u8]) -> Result<JournalEntry, JournalReadError> {
    let corrupt = |source| JournalReadError::Corrupt {
        path: path.to_owned(),
        number,
        source,
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
        source: serde_json::Error,
    },
    /// A line of a version that is newer than this program.
    #[error(
        "line {number} of the journal {path:?} is of version {version}, which is not known here"
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
