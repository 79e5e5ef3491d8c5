//! Writes down what observers are told.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use super::bounded::bounded_line;
use super::stream::{self, Head, current, earlier};
use crate::domain::RunId;
use crate::port::{RunEvent, RunEventKind, RunObserver};
use crate::project::journal::end_of_last_line;
use crate::project::no_follow::open_or_create;
use crate::project::{FileKind, Project, ProjectError, create_folder, replace_file_durably};

/// How large a file may be before the next session puts it aside.
const LARGE: u64 = 16 * 1024 * 1024;

/// How much one session may write.
const MOST: usize = 64 * 1024 * 1024;

/// Keeps git from all that is in the folder, so that no agent commits it and it does not travel.
const IGNORED: &str = "*\n";

/// Writes down what observers of a session are told, in `.autonoe/events/`, so that who watches the
/// run from elsewhere can be told it too: read it by [`EventsPage`](super::EventsPage).
///
/// It is no record: nothing is synced, long texts are cut, and what was written long ago goes. One
/// process writes at a time: hold the [`RunLock`](crate::RunLock). A session is not kept from its
/// work by a disk that is full: from the first line that cannot be written on, none is. Two files of
/// 16 MiB are kept, and what one session writes beyond that, 64 MiB at most.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Events, EventsFile, EventsPage, Project, RunEventKind, RunId, SeededIds, SystemClock};
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let run = RunId::new("shop");
/// let file = Arc::new(EventsFile::open(&project, run.clone())?);
/// let events = Events::new(vec![file], SystemClock, SeededIds::new(1));
///
/// events.emit(RunEventKind::Warning { message: "The disk is nearly full." });
///
/// let page = EventsPage::read(&project, &run, 0)?;
/// assert_eq!(page.events[0]["event"], "warning");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EventsFile {
    run: RunId,
    /// `None` after the last line that is written.
    open: Mutex<Option<Open>>,
}

struct Open {
    file: File,
    /// How many bytes may still be written.
    room: usize,
}

#[derive(Serialize)]
struct Line<'a> {
    run: &'a RunId,
    event: &'a RunEvent<'a>,
}

impl EventsFile {
    /// Opens the file for a session of `run`. One that has grown large is put aside first.
    ///
    /// # Errors
    ///
    /// It cannot be made or written to, or something else stands in its place.
    pub fn open(project: &Project, run: RunId) -> Result<Self, ProjectError> {
        project.ensure_state_dir()?;
        let folder = project.events_dir();
        let unwritable = |source| ProjectError::unwritable(&folder, source);
        check(&folder, Kind::Folder)?;
        create_folder(&folder).map_err(unwritable)?;
        ignore_all(&folder)?;
        let path = current(project);
        check(&path, Kind::File)?;
        let file = open(&path, &earlier(project));
        let file = file.map_err(|source| ProjectError::unwritable(&path, source))?;
        Ok(Self {
            run,
            open: Mutex::new(Some(Open { file, room: MOST })),
        })
    }

    /// Writes an event, or else that it is too long.
    fn line(&self, event: &RunEvent<'_>) -> Option<Vec<u8>> {
        let run = &self.run;
        let message = "Something happened that is too long to be told here";
        bounded_line(&Line { run, event }).or_else(|| self.instead(event, message))
    }

    /// Writes a warning in the place of an event.
    fn instead(&self, event: &RunEvent<'_>, message: &str) -> Option<Vec<u8>> {
        let event = &RunEvent {
            kind: RunEventKind::Warning { message },
            ..event.clone()
        };
        let run = &self.run;
        bounded_line(&Line { run, event })
    }
}

impl RunObserver for EventsFile {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(Open { file, room }) = open.as_mut() else {
            return;
        };
        let Some(mut line) = self.line(event) else {
            return;
        };
        let left = room.checked_sub(line.len());
        if left.is_none() {
            let message = "What else happens in this session is not told here: it is too much";
            line = self.instead(event, message).unwrap_or_default();
        }
        // In one call, so that readers see whole lines.
        let written = file.write_all(&line);
        match (left, &written) {
            (Some(left), Ok(())) => *room = left,
            _ => *open = None,
        }
        if let Err(error) = written {
            tracing::warn!(%error, "what happens is not written down for who watches from elsewhere");
        }
    }
}

impl fmt::Debug for EventsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventsFile")
            .field("run", &self.run)
            .finish_non_exhaustive()
    }
}

fn ignore_all(folder: &Path) -> Result<(), ProjectError> {
    let file = folder.join(".gitignore");
    check(&file, Kind::File)?;
    match fs::read(&file) {
        Ok(found) if found == IGNORED.as_bytes() => Ok(()),
        _ => replace_file_durably(&file, IGNORED.as_bytes())
            .map_err(|source| ProjectError::unwritable(&file, source)),
    }
}

/// What is to stand at a path.
#[derive(Clone, Copy)]
enum Kind {
    Folder,
    File,
}

/// Looks that nothing is written to another place than it seems.
fn check(path: &Path, kind: Kind) -> Result<(), ProjectError> {
    let found = match path.symlink_metadata() {
        Ok(found) => found.file_type(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => return Err(ProjectError::unreadable(path, source)),
    };
    let (path, is) = (path.to_owned(), FileKind::of(found));
    match kind {
        Kind::Folder if !found.is_dir() => Err(ProjectError::NotAFolder { path, found: is }),
        Kind::File if !found.is_file() => Err(ProjectError::NotAFile { path, found: is }),
        _ => Ok(()),
    }
}

/// Opens the file, with a head that says where in the stream it begins.
fn open(path: &Path, earlier: &Path) -> io::Result<File> {
    let mut file = open_or_create(path, &options())?;
    let length = file.metadata()?.len();
    let base = match Head::of(&mut file)? {
        Some(_) if length < LARGE => {
            // What a kill left of a line would be the beginning of the next.
            let whole = end_of_last_line(&mut file)?;
            file.set_len(whole)?;
            return Ok(file);
        }
        Some(head) => head.base + length,
        // Begun a moment before a kill, or not ours.
        None => match stream::open(earlier)? {
            Some((file, head)) => head.base + file.metadata()?.len(),
            None => 0,
        },
    };
    if length > 0 {
        fs::rename(path, earlier)?;
        file = open_or_create(path, &options())?;
    }
    let mut line = serde_json::to_vec(&Head::at(base))?;
    line.push(b'\n');
    file.write_all(&line)?;
    Ok(file)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    // Agents' words are for nobody else on the machine.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}
