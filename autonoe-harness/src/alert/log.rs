//! Append-only alert log, one line of JSON per alert.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use autonoe_core::project::{AppendLog, LogEntry, LogWriters, ProjectError, create_folder};
use autonoe_core::run::Durability;

use super::{Alert, Severity};
use crate::folder::{FolderError, require_regular_file};

/// Maximum time that an alert waits for other writers. A suspended process may hold the lock for
/// ever.
const LOCK_LIMIT: Duration = Duration::from_secs(2);

impl LogEntry for Alert {
    const STARTS: &'static [&'static [u8]] = &[b"{\"type\":"];
}

/// Append-only file of alerts, one line of JSON each, shared by several processes.
///
/// Appended alerts survive kills and power cuts. A line that was torn by a kill stays in the file
/// and is reported to readers; the next alert starts on a new line.
///
/// ```
/// use autonoe_harness::alert::{Alert, AlertLog, Severity};
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

/// Content of an alert log.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct AlertHistory {
    /// The alerts, in log order.
    pub alerts: Vec<Alert>,
    /// Lines that are not alerts. They stay in the file.
    pub unreadable: Vec<UnreadableAlert>,
}

/// A line of a log that is not an alert: torn by a kill, or written by another program.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableAlert {
    /// The line number, starting at 1.
    pub line: usize,
    /// The parse error.
    pub reason: String,
}

impl AlertLog {
    /// Returns the log at `path`, which need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Returns the path of the log.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an alert, and creates the file and its folder if they are missing. Blocks on disk
    /// I/O.
    ///
    /// # Errors
    ///
    /// The alert cannot be written. Existing content is unchanged.
    pub fn append(&self, alert: &Alert) -> Result<(), FolderError> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let unwritable = |source| FolderError::unwritable(&self.path, source);
        create_folder(folder).map_err(unwritable)?;
        let log = AppendLog::open_for(LogWriters::SeveralWithin(LOCK_LIMIT), &self.path);
        log.and_then(|log| log.append(alert, Durability::Synced))
            .map_err(|error| match error {
                ProjectError::Unwritable { source, .. } => unwritable(source),
                error => unwritable(io::Error::other(error)),
            })
    }

    /// Reads all alerts; a missing file has none. Blocks on disk I/O.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn read(&self) -> Result<AlertHistory, FolderError> {
        let read = require_regular_file(&self.path).and_then(|()| fs::read(&self.path));
        match read {
            Ok(bytes) => Ok(AlertHistory::parse(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(AlertHistory::default()),
            Err(source) => Err(FolderError::unreadable(&self.path, source)),
        }
    }
}

impl AlertHistory {
    /// Returns the alerts of a severity, in log order.
    pub fn by_severity(&self, severity: Severity) -> impl Iterator<Item = &Alert> {
        let alerts = self.alerts.iter();
        alerts.filter(move |alert| alert.severity == severity)
    }

    /// Returns the last `count` alerts, in log order.
    pub fn recent(&self, count: usize) -> &[Alert] {
        &self.alerts[self.alerts.len().saturating_sub(count)..]
    }

    fn parse(bytes: &[u8]) -> Self {
        let mut history = Self::default();
        for (number, line) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
            let is_whole = line.ends_with(b"\n");
            if line == b"\n" {
                // Two concurrent writers may both have ended a torn line.
                continue;
            }
            match serde_json::from_slice(line) {
                // Without a line end, the line may be cut in the middle of a number.
                Ok(alert) if is_whole => history.alerts.push(alert),
                Ok(_) => history.note(number, "the line is incomplete".to_owned()),
                Err(error) => history.note(number, error.to_string()),
            }
        }
        history
    }

    fn note(&mut self, line: usize, reason: String) {
        self.unreadable.push(UnreadableAlert { line, reason });
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use proptest::prelude::*;

    use super::*;
    use crate::alert::Severity;

    fn alert(number: usize) -> Alert {
        let message = format!("{number}\n\u{e9}");
        Alert::new("k", Severity::Info, message, Timestamp::UNIX_EPOCH).detail("n", number)
    }

    proptest! {
        /// Wherever a kill cuts the file, whole lines are read, the torn line is reported, and
        /// lines appended afterwards are whole.
        #[test]
        fn a_torn_line_is_reported_and_loses_no_other(count in 1..6_usize, cut in any::<usize>()) {
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
            // A line that was cut just before its end gets that end from the next append.
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
    fn a_last_line_without_an_end_is_reported() {
        let mut bytes = serde_json::to_vec(&alert(1)).expect("it serialises");
        let torn = AlertHistory::parse(&bytes);
        bytes.push(b'\n');
        let whole = AlertHistory::parse(&bytes);

        assert_eq!((torn.alerts.len(), torn.unreadable.len()), (0, 1));
        assert_eq!((whole.alerts.len(), whole.unreadable.len()), (1, 0));
    }

    #[test]
    fn foreign_lines_are_reported_and_kept() {
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
