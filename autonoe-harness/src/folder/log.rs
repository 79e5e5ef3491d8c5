//! Lines for people.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use autonoe_core::open_file_to_append;
use jiff::Timestamp;

use super::{FolderError, HarnessFolder};

/// Writes `harness.log`, the lines of a sub-harness for people.
///
/// Several may write at once: each call adds its bytes to the end. It is a writer, too, for what an
/// embedder has to say there.
#[derive(Debug)]
pub struct HarnessLog(File);

/// How much of the end of a log is looked at, at most.
const LONGEST_TAIL: u64 = 4 * 1024 * 1024;

impl HarnessLog {
    /// Opens the log of a sub-harness.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn open(folder: &HarnessFolder) -> Result<Self, FolderError> {
        let path = folder.file("harness.log");
        let file = open_file_to_append(&path);
        let file = file.map_err(|source| FolderError::unwritable(&path, source))?;
        Ok(Self(file))
    }

    /// Adds a line with its time. One that cannot be written is traced: the work goes on.
    pub(crate) fn line(&mut self, at: Timestamp, text: &str) {
        let line = format!("{at} {}\n", text.replace('\n', " "));
        if let Err(error) = self.0.write_all(line.as_bytes()) {
            tracing::warn!(%error, "the log of a sub-harness cannot be written");
        }
    }
}

impl Write for HarnessLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Refuses what somebody put in the place of the log: to open a pipe is to wait for its other end, and
/// a link leads elsewhere.
fn is_file_or_nothing(path: &Path) -> io::Result<()> {
    match path.symlink_metadata() {
        Ok(found) if !found.is_file() => Err(io::Error::other("it is no file")),
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

impl HarnessFolder {
    /// Returns the last `tail` lines of the log, of its last four megabytes.
    ///
    /// # Errors
    ///
    /// It is there and cannot be read.
    pub fn log(&self, tail: usize) -> Result<Vec<String>, FolderError> {
        let path = self.file("harness.log");
        let unreadable = |source| FolderError::unreadable(&path, source);
        let opened = is_file_or_nothing(&path).and_then(|()| File::open(&path));
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
        // The first line is cut when the log is longer.
        let lines = text.lines().skip(usize::from(start > 0));
        let lines: Vec<_> = lines.map(str::to_owned).collect();
        Ok(lines[lines.len().saturating_sub(tail)..].to_vec())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::HarnessId;

    #[test]
    fn the_last_lines_are_read_and_a_text_of_several_is_one() {
        let root = tempfile::tempdir().expect("a folder");
        let folder = HarnessFolder::of(root.path(), &HarnessId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        assert_eq!(folder.log(3).expect("nothing"), Vec::<String>::new());
        let mut log = HarnessLog::open(&folder).expect("writable");

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
        let folder = HarnessFolder::of(root.path(), &HarnessId::new("a")).expect("an id");
        fs::create_dir_all(folder.path()).expect("writable");
        let made = std::process::Command::new("mkfifo")
            .arg(folder.file("harness.log"))
            .status();
        assert!(made.expect("it is there").success());

        assert!(folder.log(1).is_err());
        assert!(HarnessLog::open(&folder).is_err());

        fs::remove_file(folder.file("harness.log")).expect("ours");
        let elsewhere = root.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, folder.file("harness.log")).expect("a link");
        assert!(HarnessLog::open(&folder).is_err());
        assert!(!elsewhere.exists());
    }
}
