//! Log of a member for people, and access to its alerts.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use autonoe_core::project::open_file_to_append;
use jiff::Timestamp;

use super::file::require_regular_file;
use super::{FolderError, MemberFolder};
use crate::alert::{Alert, AlertLog};
use crate::work::WorkEvent;

/// Writer of `harness.log`, the log of a member for people.
///
/// Several writers may append at once: each call adds its bytes to the end. Embedders can write
/// their own lines through [`Write`].
#[derive(Debug)]
pub struct MemberLog(File);

/// Name of the log file.
pub(super) const LOG: &str = "harness.log";

/// Maximum number of bytes read from the end of a log.
const LONGEST_TAIL: u64 = 4 * 1024 * 1024;

impl MemberLog {
    /// Opens the log of a member.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn open(folder: &MemberFolder) -> Result<Self, FolderError> {
        let path = folder.file(LOG);
        let file = open_file_to_append(&path);
        let file = file.map_err(|source| FolderError::unwritable(&path, source))?;
        Ok(Self(file))
    }

    /// Appends a line with its time. A write error is traced and does not stop the work.
    pub(crate) fn line(&mut self, at: Timestamp, text: &str) {
        let line = format!("{at} {}\n", text.replace('\n', " "));
        if let Err(error) = self.0.write_all(line.as_bytes()) {
            tracing::warn!(%error, "cannot write the log of a member");
        }
    }
}

impl Write for MemberLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl MemberFolder {
    /// Returns the last `tail` lines of the log, from at most its last four megabytes.
    ///
    /// # Errors
    ///
    /// It exists and cannot be read.
    pub fn log(&self, tail: usize) -> Result<Vec<String>, FolderError> {
        if !self.file(LOG).exists() {
            self.rebuild()?;
        }
        let path = self.file(LOG);
        let unreadable = |source| FolderError::unreadable(&path, source);
        let opened = require_regular_file(&path).and_then(|()| File::open(&path));
        let mut file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(unreadable(source)),
        };
        let length = file.metadata().map_err(unreadable)?.len();
        let start = length.saturating_sub(LONGEST_TAIL);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        let read = file.take(LONGEST_TAIL).read_to_end(&mut bytes);
        read.map_err(unreadable)?;
        let text = String::from_utf8_lossy(&bytes);
        // The first line is partial if the log is longer.
        let lines = text.lines().skip(usize::from(start > 0));
        let lines: Vec<_> = lines.map(str::to_owned).collect();
        Ok(lines[lines.len().saturating_sub(tail)..].to_vec())
    }
}

impl WorkEvent {
    /// Returns the time of the event, if it has one.
    pub(super) fn at(&self) -> Option<Timestamp> {
        match self {
            Self::Opened { at, .. }
            | Self::TaskStarted { at, .. }
            | Self::IterationStarted { at, .. }
            | Self::IterationEnded { at, .. }
            | Self::Ended { at, .. }
            | Self::Stopped { at, .. } => Some(*at),
            _ => None,
        }
    }

    /// Returns the log line of the event, for people, if it has one.
    pub(crate) fn log_line(&self) -> Option<String> {
        Some(match self {
            Self::TaskStarted { task, .. } => format!("{task} started"),
            Self::IterationStarted {
                task,
                iteration,
                branch,
                ..
            } => match branch {
                Some(branch) => format!("{task}: iteration {iteration} on {branch}"),
                None => format!("{task}: iteration {iteration}"),
            },
            Self::NotStarted { task, reason, .. } => format!("{task}: no turn started: {reason}"),
            Self::IterationEnded {
                task,
                verification,
                score,
                ..
            } => format!("{task}: {verification}; progress {score:.2}"),
            Self::Waiting { task, until } => {
                format!("{task} waits for its quota until {until}")
            }
            Self::Recovered { task, step, .. } => format!("{task}: {}", step.description),
            Self::Explored {
                task,
                branch,
                outcome,
                ..
            } => format!("{task}: {branch}: {outcome}"),
            Self::Ended {
                task,
                success,
                reason,
                ..
            } => {
                if *success {
                    format!("{task} is done")
                } else {
                    format!("{task} failed: {reason}")
                }
            }
            Self::Stopped { task, .. } => format!("{task} was stopped"),
            _ => return None,
        })
    }
}

impl MemberFolder {
    /// Returns the alert log of the member, `alerts.log`.
    pub fn alert_log(&self) -> AlertLog {
        AlertLog::new(self.file("alerts.log"))
    }

    /// Returns the alerts of the member, in order. A line that is not an alert, such as one that is
    /// being written, is skipped and traced.
    ///
    /// # Errors
    ///
    /// The file exists and cannot be read.
    pub fn alerts(&self) -> Result<Vec<Alert>, FolderError> {
        let history = self.alert_log().read()?;
        for odd in &history.unreadable {
            tracing::debug!(line = odd.line, reason = %odd.reason, "skipped an invalid alert");
        }
        Ok(history.alerts)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::alert::Severity;
    use crate::strategy::MemberId;

    #[test]
    fn the_last_lines_are_read_and_a_text_of_several_is_one() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = MemberFolder::new(root.path(), &MemberId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        assert_eq!(folder.log(3).expect("nothing"), Vec::<String>::new());
        let mut log = MemberLog::open(&folder).expect("writable");

        writeln!(log, "from elsewhere").expect("writable");
        log.line(Timestamp::UNIX_EPOCH, "one\ntwo");

        let lines = ["from elsewhere", "1970-01-01T00:00:00Z one two"];
        assert_eq!(folder.log(9).expect("there"), lines);
        assert_eq!(folder.log(1).expect("there"), lines[1..]);
        assert_eq!(folder.log(0).expect("there"), lines[2..]);
    }

    #[test]
    fn a_pipe_or_a_link_in_its_place_is_neither_read_nor_written() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = MemberFolder::new(root.path(), &MemberId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        let created = std::process::Command::new("mkfifo")
            .arg(folder.file("harness.log"))
            .status();
        assert!(created.expect("it is there").success());

        assert!(folder.log(1).is_err());
        assert!(MemberLog::open(&folder).is_err());

        fs::remove_file(folder.file("harness.log")).expect("ours");
        let target = root.path().join("elsewhere");
        std::os::unix::fs::symlink(&target, folder.file("harness.log")).expect("a link");
        assert!(MemberLog::open(&folder).is_err());
        assert!(!target.exists());
    }

    #[test]
    fn alerts_are_read_and_a_line_that_is_none_hides_no_other() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = MemberFolder::new(root.path(), &MemberId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        let alert = |kind| Alert::new(kind, Severity::Warning, "Look.", Timestamp::UNIX_EPOCH);
        let written = |kind| serde_json::to_string(&alert(kind)).expect("it serialises");
        let (first, second) = (written("no_progress"), written("done"));
        let lines = format!("{first}\nhalf a li\n\n{second}\n{{\"type\":");
        fs::write(folder.path().join("alerts.log"), lines).expect("writable");

        let alerts = folder.alerts().expect("readable");

        assert_eq!(alerts, [alert("no_progress"), alert("done")]);
    }
}
