//! The events of a run in pages, for who is not where they are.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::bounded::LONGEST;
use super::stream::{Head, current, earlier, open};
use crate::domain::RunId;
use crate::project::{Project, ProjectError};

/// The kind of jobs that give an [`EventsPage`], on the host that has the events.
pub const EVENTS_JOB: &str = "events";

/// How much is looked through for a page.
const PAGE: usize = 2 * LONGEST;

/// Some of what observers of a run's sessions were told where those were carried out, in order.
///
/// An event is a [`RunEvent`](crate::RunEvent) as JSON; read it as a
/// [`RecordedEvent`](crate::RecordedEvent).
///
/// ```
/// use autonoe_core::{EventsPage, Project, RunId};
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let page = EventsPage::read(&project, &RunId::new("shop-1"), 0)?;
///
/// assert!(page.events.is_empty() && page.is_last);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct EventsPage {
    /// The events.
    pub events: Vec<Value>,
    /// Where the next page begins. It is less than was asked for if the events are others than
    /// they were: then they are read from their beginning.
    pub next: u64,
    /// Whether there was nothing more when it was read.
    pub is_last: bool,
}

#[derive(Deserialize)]
struct Line {
    run: RunId,
    event: Value,
}

impl EventsPage {
    /// Reads what of `run` follows on the place `after`; 0 is the beginning. It has some 256 KiB at
    /// most, and may have nothing though it is not the last.
    ///
    /// # Errors
    ///
    /// The files cannot be read.
    pub fn read(project: &Project, run: &RunId, after: u64) -> Result<Self, ProjectError> {
        let unreadable = |source| ProjectError::unreadable(&project.events_dir(), source);
        Self::find(project, run, after, PAGE).map_err(unreadable)
    }

    fn find(project: &Project, run: &RunId, after: u64, most: usize) -> io::Result<Self> {
        let Some((file, head)) = open(&current(project))? else {
            // It may just have been put aside.
            return match open(&earlier(project))? {
                Some((file, earlier)) => Self::of(file, earlier, run, after, most),
                None => Ok(Self {
                    is_last: true,
                    ..Self::default()
                }),
            };
        };
        if after < head.base
            && let Some((file, earlier)) = open(&earlier(project))?
        {
            let page = Self::of(file, earlier, run, after, most)?;
            // What was torn off by a kill before the file was put aside is not there to be read.
            let next = match page.is_last {
                true => head.base,
                false => page.next,
            };
            let is_last = false;
            return Ok(Self {
                next,
                is_last,
                ..page
            });
        }
        Self::of(file, head, run, after, most)
    }

    /// Reads a page of one file.
    fn of(mut file: File, head: Head, run: &RunId, after: u64, most: usize) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let from = match after.checked_sub(head.base) {
            Some(from) if from <= length => from,
            Some(_) => {
                let next = head.base;
                return Ok(Self {
                    next,
                    ..Self::default()
                });
            }
            None => 0,
        };
        let mut bytes = Vec::with_capacity(most);
        file.seek(SeekFrom::Start(from))?;
        file.take(most as u64).read_to_end(&mut bytes)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n');
        let whole = match whole {
            Some(at) => at + 1,
            // No line of ours is so long.
            None if bytes.len() == most => most,
            None => 0,
        };
        // The head, and what a kill left of a line, are none.
        let lines = bytes[..whole].split(|byte| *byte == b'\n');
        let lines = lines.filter_map(|line| serde_json::from_slice::<Line>(line).ok());
        let events = lines.filter(|line| line.run == *run).map(|line| line.event);
        Ok(Self {
            events: events.collect(),
            next: head.base + from + whole as u64,
            is_last: bytes.len() < most,
        })
    }
}
