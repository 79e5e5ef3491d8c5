//! The journal of a task loop.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::Failure;

use super::{WorkEvent, WorkObserver, WorkSoFar};

/// Writes what happens into a file, a line of JSON for each event. Nothing in it ever changes.
///
/// A line that a kill cut off is left as it is and closed by a line end; [`read`](Self::read) passes
/// over it.
///
/// ```
/// use autonoe_harness::{WorkEvent, WorkJournal, WorkObserver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("work.jsonl");
/// let event = WorkEvent::Closed { untold: vec!["Use tabs.".to_owned()] };
///
/// WorkJournal::open(&path)?.note(&event).await.map_err(|failure| failure.to_string())?;
///
/// assert_eq!(WorkJournal::read(&path)?, [event]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct WorkJournal {
    path: PathBuf,
    file: Mutex<File>,
}

impl WorkJournal {
    /// Opens the journal at `path`, or begins it.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .append(true)
            .create(true)
            .open(path)?;
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            let mut last = [0];
            file.read_exact(&mut last)?;
            if last != *b"\n" {
                file.write_all(b"\n")?;
            }
        }
        // A file whose name is lost with the power is none.
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            File::open(folder)?.sync_all()?;
        }
        Ok(Self {
            path: path.to_owned(),
            file: Mutex::new(file),
        })
    }

    /// Reads the journal at `path`.
    ///
    /// # Errors
    ///
    /// It cannot be read. A line that is no JSON was cut off by a kill, and is passed over; one
    /// that is JSON and no event is an error.
    pub fn read(path: &Path) -> io::Result<Vec<WorkEvent>> {
        let mut events = Vec::new();
        for line in BufReader::new(File::open(path)?).split(b'\n') {
            let line = line?;
            let Ok(json) = serde_json::from_slice::<serde_json::Value>(&line) else {
                continue;
            };
            events.push(serde_json::from_value(json)?);
        }
        Ok(events)
    }

    fn append(&self, event: &WorkEvent) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(&line)?;
        // What follows relies on it: what was begun, done or told must be known after a kill.
        file.sync_data()
    }
}

#[async_trait]
impl WorkObserver for WorkJournal {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self.append(event).map_err(|error| {
            let message = format!("{} cannot be written: {error}", self.path.display());
            Failure::permanent("not_recorded", message)
        })
    }

    async fn so_far(&self) -> Result<WorkSoFar, Failure> {
        let events = Self::read(&self.path).map_err(|error| {
            let message = format!("{} cannot be read: {error}", self.path.display());
            Failure::permanent("journal", message)
        })?;
        Ok(events.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> WorkEvent {
        WorkEvent::Closed {
            untold: vec![text.to_owned()],
        }
    }

    #[tokio::test]
    async fn a_line_that_was_cut_off_hides_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.jsonl");
        let journal = WorkJournal::open(&path).expect("a file");
        journal.note(&event("one")).await.expect("it is written");
        let mut file = OpenOptions::new().append(true).open(&path).expect("a file");
        file.write_all(br#"{"event": "clo"#).expect("half a line");

        let journal = WorkJournal::open(&path).expect("a file");
        journal.note(&event("two")).await.expect("it is written");

        let events = WorkJournal::read(&path).expect("a journal");
        assert_eq!(events, [event("one"), event("two")]);
    }

    #[test]
    fn what_nobody_understands_is_an_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.jsonl");
        std::fs::write(&path, "{\"event\": \"unheardOf\"}\n").expect("a file");

        assert!(WorkJournal::read(&path).is_err());
    }
}
