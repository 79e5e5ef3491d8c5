//! Writes a journal file.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use super::entry::{JournalEntry, VERSION, is_torn_line};
use crate::domain::RunId;
use crate::project::anchor::Anchor;
use crate::project::{Project, ProjectError, open_file_to_append};
use crate::run::{Durability, JournalError, JournalLine, RunJournal};

/// Writes the journal of a project, `.autonoe/journal.jsonl`: one line per fact.
///
/// One process writes at a time: hold the [`RunLock`](super::super::RunLock).
/// What a killed process left of its last line is cut off when the file is
/// opened again; that line was never acknowledged. Anything else that stands
/// there is somebody's data, and an error. A file that has grown large
/// is put aside at the start of a new run. Each line is written to the file that stands at
/// the path: one that was moved, removed, replaced or written to by somebody else meanwhile
/// gets no line any more, and that is an error.
///
/// ```
/// use autonoe_core::{FileJournal, Journal, Project};
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let journal = FileJournal::open(&project)?;
/// drop(journal);
///
/// assert!(Journal::read(&project.journal_path())?.stories().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    anchor: Anchor,
    open: Mutex<Open>,
}

/// The file, and how long it is by all that is known here.
#[derive(Debug)]
struct Open {
    file: File,
    length: u64,
}

/// How large a journal may be before a new run puts it aside.
const LARGE: u64 = 16 * 1024 * 1024;

/// How many journals that were put aside are kept.
pub(super) const KEPT: u32 = 3;

impl FileJournal {
    /// Opens the journal of `project`, to go on with a run or to start one.
    ///
    /// # Errors
    ///
    /// The file cannot be opened or mended.
    pub fn open(project: &Project) -> Result<Self, ProjectError> {
        project.ensure_state_dir()?;
        let path = project.journal_path();
        Self::at(&path)
    }

    /// Opens the journal of `project` for a new run: a large one is put aside first.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, mended or put aside.
    pub fn open_for_new_run(project: &Project) -> Result<Self, ProjectError> {
        let path = project.journal_path();
        put_aside_if_large(&path).map_err(|source| ProjectError::unwritable(&path, source))?;
        Self::open(project)
    }

    fn at(path: &Path) -> Result<Self, ProjectError> {
        let unwritable = |source| ProjectError::unwritable(path, source);
        let mut file = open_file_to_append(path).map_err(unwritable)?;
        match cut_torn_line(&mut file).map_err(unwritable)? {
            End::Whole => {}
            End::Foreign => {
                let path = path.to_owned();
                return Err(ProjectError::ForeignEnd { path });
            }
        }
        if let Some(folder) = path.parent() {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(unwritable)?;
        }
        let length = file.metadata().map_err(unwritable)?.len();
        Ok(Self {
            path: path.to_owned(),
            anchor: Anchor::of(path)?,
            open: Mutex::new(Open { file, length }),
        })
    }

    fn add(&self, text: &[u8], durability: Durability) -> Result<(), ProjectError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.anchor.check()?;
        if found.len() != open.length {
            let path = self.path.clone();
            return Err(ProjectError::Replaced { path });
        }
        let Open { file, length } = &mut *open;
        let written = add_line(file, text, *length).and_then(|()| {
            *length += text.len() as u64;
            match durability {
                Durability::Written => Ok(()),
                Durability::Synced => file.sync_data(),
            }
        });
        written.map_err(|source| ProjectError::unwritable(&self.path, source))
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
        let mut text = serde_json::to_vec(&entry).map_err(JournalError::new)?;
        text.push(b'\n');
        self.add(&text, durability).map_err(JournalError::new)
    }
}

/// Adds a line to a file that has `before` bytes, as a whole or not at all.
fn add_line(file: &mut File, text: &[u8], before: u64) -> io::Result<()> {
    // In one call, so that a kill leaves a whole line, a torn last one, or nothing.
    let written = file.write_all(text);
    if written.is_err() {
        // On a full disk a part may stand there, and the next line would be glued to it.
        file.set_len(before)?;
    }
    written
}

/// What a journal ends with.
enum End {
    /// A whole line, or nothing.
    Whole,
    /// Something that is no line of ours.
    Foreign,
}

/// The longest beginning of a line that is looked at: many times what a run writes.
const LONGEST_TAIL: u64 = 16 * 1024 * 1024;

/// Cuts off what a kill left of a line behind the last line end.
fn cut_torn_line(file: &mut File) -> io::Result<End> {
    let whole = end_of_last_line(file)?;
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(whole))?;
    file.take(LONGEST_TAIL + 1).read_to_end(&mut tail)?;
    if tail.is_empty() {
        return Ok(End::Whole);
    }
    if tail.len() as u64 > LONGEST_TAIL || !is_torn_line(&tail) {
        return Ok(End::Foreign);
    }
    file.set_len(whole)?;
    Ok(End::Whole)
}

/// Returns where the last whole line ends.
fn end_of_last_line(file: &mut File) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let mut end = file.metadata()?.len();
    while end > 0 {
        let start = end.saturating_sub(STEP);
        let mut part = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut part)?;
        if let Some(at) = part.iter().rposition(|byte| *byte == b'\n') {
            return Ok(start + at as u64 + 1);
        }
        end = start;
    }
    Ok(0)
}

fn put_aside_if_large(path: &Path) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.len() >= LARGE => {}
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    for number in (1..KEPT).rev() {
        let from = aside(path, number);
        if from.exists() {
            fs::rename(from, aside(path, number + 1))?;
        }
    }
    fs::rename(path, aside(path, 1))
}

pub(super) fn aside(path: &Path, number: u32) -> PathBuf {
    path.with_extension(format!("{number}.jsonl"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_symlink_in_place_of_the_journal_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let (target, path) = (dir.path().join("target"), dir.path().join("journal.jsonl"));
        std::os::unix::fs::symlink(&target, &path).expect("writable");

        // The check of the folder is earlier, so a symlink can replace the file after it.
        let opened = FileJournal::at(&path);

        assert!(
            matches!(opened, Err(ProjectError::Unwritable { .. })),
            "{opened:?}"
        );
        assert!(!target.exists());
    }
}
