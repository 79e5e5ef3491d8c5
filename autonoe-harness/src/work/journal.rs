//! The journal of a task loop.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::{Failure, open_file_to_append};

use super::{WorkEvent, WorkObserver, WorkSoFar};

/// What each line begins with.
const START: &[u8] = b"{\"event\":";

/// Writes what happens into a file, a line of JSON for each event. Nothing in it ever changes.
///
/// What a kill left of the last line was never relied on: [`read`](Self::read) leaves it out, and
/// whoever opens the journal to write on cuts it off. Anything else that is no event is an error,
/// and the file stays as it is.
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
    /// It cannot be opened, or is corrupt.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = open_file_to_append(path)?;
        let (_, whole) = events_in(&std::fs::read(path)?)?;
        if file.metadata()?.len() > whole {
            file.set_len(whole)?;
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
    /// It cannot be read, or is corrupt: [`io::ErrorKind::InvalidData`], with the number of the line.
    pub fn read(path: &Path) -> io::Result<Vec<WorkEvent>> {
        Ok(events_in(&std::fs::read(path)?)?.0)
    }

    fn append(&self, event: &WorkEvent) -> io::Result<()> {
        let mut line = serde_json::to_vec(event)?;
        line.push(b'\n');
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let before = file.metadata()?.len();
        // What follows relies on it: what was begun, done or told must be known after a kill.
        let written = file.write_all(&line).and_then(|()| file.sync_data());
        if written.is_err() {
            // On a full disk a part may stand there, and the next line would be glued to it.
            file.set_len(before)?;
        }
        written
    }
}

/// Reads whole lines, and returns how many bytes they are.
fn events_in(bytes: &[u8]) -> io::Result<(Vec<WorkEvent>, u64)> {
    let corrupt = |number: usize, what: String| {
        let what = format!("line {number} is corrupt: {what}");
        io::Error::new(io::ErrorKind::InvalidData, what)
    };
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let (lines, tail) = bytes.split_at(whole.map_or(0, |end| end + 1));
    let mut events = Vec::new();
    for line in lines.split_inclusive(|byte| *byte == b'\n') {
        let event = serde_json::from_slice(line);
        events.push(event.map_err(|error| corrupt(events.len() + 1, error.to_string()))?);
    }
    let begins_like_one = tail.iter().zip(START).all(|(byte, own)| byte == own);
    // A file that was growing when the power went may end with zeros.
    if !begins_like_one && tail.iter().any(|byte| *byte != 0) {
        return Err(corrupt(events.len() + 1, "it is no event".to_owned()));
    }
    Ok((events, lines.len() as u64))
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
    use std::fs::OpenOptions;

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
        file.write_all(br#"{"event":"clo"#).expect("half a line");

        let journal = WorkJournal::open(&path).expect("a file");
        journal.note(&event("two")).await.expect("it is written");

        let events = WorkJournal::read(&path).expect("a journal");
        assert_eq!(events, [event("one"), event("two")]);
    }

    #[tokio::test]
    async fn what_nobody_understands_is_an_error_that_names_the_line_and_keeps_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.jsonl");
        let journal = WorkJournal::open(&path).expect("a file");
        journal.note(&event("one")).await.expect("it is written");
        let whole = std::fs::read_to_string(&path).expect("a file");

        for foreign in [
            "{\"event\":\"unheardOf\"}\n",
            "{\"event\":\"clo\n",
            "garbage\n",
            "my notes",
        ] {
            let with = [&whole, foreign].concat();
            std::fs::write(&path, &with).expect("a file");
            for refused in [
                WorkJournal::read(&path).err(),
                WorkJournal::open(&path).err(),
            ] {
                let error = refused.expect("an error");
                assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{foreign}");
                assert!(error.to_string().contains("line 2"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), with);
        }
    }

    #[test]
    fn a_symlink_in_place_of_the_journal_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, target) = (
            folder.path().join("work.jsonl"),
            folder.path().join("target"),
        );
        std::os::unix::fs::symlink(&target, &path).expect("writable");

        assert!(WorkJournal::open(&path).is_err());
        assert!(!target.exists());
    }
}
