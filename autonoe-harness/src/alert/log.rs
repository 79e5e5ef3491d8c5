//! Alerts in a file.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use autonoe_core::{create_folder, open_file_to_append};

use super::{Alert, AlertError};

/// Alerts in a file, a line of JSON for each, for several processes at once.
///
/// What was appended survives kills and power cuts. A line that a kill has torn stays in the file
/// and is told to who reads it; what comes after it is on a line of its own.
///
/// ```
/// use autonoe_harness::{Alert, AlertLog, Severity};
/// use jiff::Timestamp;
///
/// # let dir = tempfile::tempdir()?;
/// let log = AlertLog::new(dir.path().join(".harness/alerts.log"));
/// log.append(&Alert::new("stuck", Severity::Error, "it is stuck", Timestamp::now()))?;
///
/// assert_eq!(log.read()?.alerts.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertLog {
    path: PathBuf,
}

/// What is in a log.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AlertHistory {
    /// The alerts in the order in which they came.
    pub alerts: Vec<Alert>,
    /// The lines that are none. They were left as they are.
    pub unreadable: Vec<UnreadableAlert>,
}

/// A line in a log that is no alert: torn by a kill, or somebody else's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableAlert {
    /// The number of the line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl AlertLog {
    /// The log at `path`, whether or not there is one yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Adds an alert, and makes the file and its folder if there is none. It waits for the disk.
    ///
    /// # Errors
    ///
    /// It cannot be written. What was there is left as it is.
    pub fn append(&self, alert: &Alert) -> Result<(), AlertError> {
        let mut line = serde_json::to_vec(alert)
            .map_err(io::Error::from)
            .map_err(|source| self.failed("written", source))?;
        line.push(b'\n');
        self.add(line)
            .map_err(|source| self.failed("written", source))
    }

    fn add(&self, mut line: Vec<u8>) -> io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        create_folder(folder)?;
        let is_new = !self.path.exists();
        let mut file = open_file_to_append(&self.path)?;
        lock_for_a_while(&file)?;
        if is_torn(&mut file)? {
            line.insert(0, b'\n');
        }
        file.write_all(&line)?;
        file.sync_data()?;
        if is_new {
            // Without this the name may be lost in a power cut.
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }

    /// Reads all alerts; a missing file has none. It waits for the disk.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(&self) -> Result<AlertHistory, AlertError> {
        let read = refuse_what_is_no_file(&self.path).and_then(|()| fs::read(&self.path));
        match read {
            Ok(bytes) => Ok(AlertHistory::of(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(AlertHistory::default()),
            Err(source) => Err(self.failed("read", source)),
        }
    }

    fn failed(&self, doing: &'static str, source: io::Error) -> AlertError {
        AlertError::Failed {
            path: self.path.clone(),
            doing,
            source,
        }
    }
}

impl AlertHistory {
    fn of(bytes: &[u8]) -> Self {
        let mut history = Self::default();
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let is_whole = line.ends_with(b"\n");
            if line == b"\n" {
                // Two who wrote at once may both have ended a torn line.
                continue;
            }
            match serde_json::from_slice(line) {
                // Without its end it may be a part of a number that goes on.
                Ok(alert) if is_whole => history.alerts.push(alert),
                Ok(_) => history.note(number, "it was not written to its end".to_owned()),
                Err(error) => history.note(number, error.to_string()),
            }
        }
        history
    }

    fn note(&mut self, line: usize, reason: String) {
        self.unreadable.push(UnreadableAlert { line, reason });
    }
}

/// Keeps others from writing in between, if they let it.
///
/// The system frees the lock when a process ends, however it does. One that stands still may keep it
/// for ever, and nobody is held up for that: a line that is appended at once is whole without it.
fn lock_for_a_while(file: &File) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(2);
    const NAP: Duration = Duration::from_millis(1);
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(NAP),
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
    tracing::warn!("somebody keeps the log of alerts locked; it is written all the same");
    Ok(())
}

/// Tells whether the last line has no end.
fn is_torn(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Refuses a pipe, which would be waited for, and a symlink, which may lead anywhere.
fn refuse_what_is_no_file(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is not a file")),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::Severity;

    fn alert(number: usize) -> Alert {
        let message = format!("{number}\n\u{e9}");
        Alert::new("k", Severity::Info, message, Timestamp::UNIX_EPOCH).with("n", number)
    }

    proptest! {
        /// Wherever a kill cuts the file, whole lines are read, the torn one is told, and what is
        /// appended afterwards is whole.
        #[test]
        fn a_torn_line_is_told_and_loses_no_other(count in 1..6_usize, cut in any::<usize>()) {
            let dir = tempfile::tempdir().expect("a folder");
            let log = AlertLog::new(dir.path().join("alerts.log"));
            let mut ends = vec![0];
            for number in 0..count {
                log.append(&alert(number)).expect("writable");
                ends.push(usize::try_from(fs::metadata(log.path()).expect("there").len())
                    .expect("it is small"));
            }
            let bytes = fs::read(log.path()).expect("readable");
            let cut = cut % (bytes.len() + 1);
            fs::write(log.path(), &bytes[..cut]).expect("writable");

            log.append(&alert(99)).expect("writable");

            let history = log.read().expect("readable");
            let whole = ends.iter().filter(|end| **end <= cut).count() - 1;
            let expected: Vec<_> = (0..whole).chain([99]).map(alert).collect();
            // Cut off just before its end, a line gets that end from the one after it.
            let is_whole_but_for_its_end = ends.contains(&(cut + 1)) && cut > 0;
            if is_whole_but_for_its_end {
                prop_assert_eq!(history.alerts.len(), whole + 2);
                prop_assert!(history.unreadable.is_empty());
            } else {
                prop_assert_eq!(history.alerts, expected);
                prop_assert_eq!(history.unreadable.len(), usize::from(!ends.contains(&cut)));
            }
        }
    }

    #[test]
    fn a_last_line_without_an_end_is_told() {
        let mut bytes = serde_json::to_vec(&alert(1)).expect("it serialises");
        let torn = AlertHistory::of(&bytes);
        bytes.push(b'\n');
        let whole = AlertHistory::of(&bytes);

        assert_eq!((torn.alerts.len(), torn.unreadable.len()), (0, 1));
        assert_eq!((whole.alerts.len(), whole.unreadable.len()), (1, 0));
    }

    #[test]
    fn somebody_elses_lines_are_told_and_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = AlertLog::new(dir.path().join("alerts.log"));
        fs::write(log.path(), "hello\n{\"type\": 1}\n").expect("writable");

        log.append(&alert(1)).expect("writable");

        let history = log.read().expect("readable");
        let lines: Vec<_> = history.unreadable.iter().map(|odd| odd.line).collect();
        assert_eq!((history.alerts, lines), (vec![alert(1)], vec![1, 2]));
        let text = fs::read_to_string(log.path()).expect("readable");
        assert!(text.starts_with("hello\n{\"type\": 1}\n"));
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_in_its_place_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let log = AlertLog::new(dir.path().join("alerts.log"));
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), log.path()).expect("a link");

        assert!(log.append(&alert(1)).is_err());
        assert!(log.read().is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }
}
