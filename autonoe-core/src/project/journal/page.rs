//! [`JournalPage`], a part of a journal for remote readers.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Journal, JournalEntry, JournalReadError};
use crate::engine::{ProjectName, RunSpec};
use crate::project::Project;
use crate::time::RunId;
use crate::time::millis;

/// The kind of jobs that return a [`JournalPage`], on the host of the journal.
pub const JOURNAL_JOB: &str = "journal";

/// The maximum size of a page in bytes. Messages to and from an engine must be small.
const MAX_PAGE_SIZE: usize = 256 * 1024;

/// A request for a page of a run's journal in a project that hosts know by its name.
///
/// ```
/// use autonoe_core::engine::ProjectName;
/// use autonoe_core::project::{JOURNAL_JOB, JournalPageRequest};
/// use autonoe_core::RunId;
///
/// let ask = JournalPageRequest::new(ProjectName::new("shop")?, RunId::new("shop-1")).after(12);
/// let job = ask.to_spec(RunId::new("journal-7"))?;
///
/// assert_eq!(job.job, JOURNAL_JOB);
/// assert_eq!(job.input["after"], 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct JournalPageRequest {
    /// The project.
    pub project: ProjectName,
    /// The run.
    pub run: RunId,
    /// The number of known lines of its journal, from the first one.
    #[serde(default)]
    pub after: u64,
    /// The maximum wait for a line if there is none; no wait by default. A host may wait less.
    #[serde(default, rename = "waitMs", with = "millis")]
    pub wait: Duration,
}

impl JournalPageRequest {
    /// Requests the first page.
    pub fn new(project: ProjectName, run: RunId) -> Self {
        Self {
            project,
            run,
            after: 0,
            wait: Duration::ZERO,
        }
    }

    /// Requests the lines after the first `known` ones.
    #[must_use]
    pub fn after(mut self, known: u64) -> Self {
        self.after = known;
        self
    }

    /// Sets the maximum wait for a line.
    #[must_use]
    pub fn wait(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Returns the job to submit for a [`JournalPage`].
    ///
    /// # Errors
    ///
    /// The request cannot be serialised as JSON.
    pub fn to_spec(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
        Ok(RunSpec::new(id, JOURNAL_JOB, serde_json::to_value(self)?))
    }
}

/// A part of the recorded lines of a run, whole and in order.
///
/// ```
/// use autonoe_core::project::JournalPage;
/// use autonoe_core::{Project, RunId};
///
/// # let dir = tempfile::tempdir()?;
/// let project = Project::find(dir.path(), None)?;
/// let page = JournalPage::read(&project, &RunId::new("shop-1"), 0)?;
///
/// assert!(page.entries.is_empty() && page.is_last);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct JournalPage {
    /// The lines.
    pub entries: Vec<JournalEntry>,
    /// The start of the next page. It is lower than the requested start if the journal has fewer
    /// lines: then it is another journal.
    pub next: u64,
    /// Whether there were no more lines when the page was read.
    pub is_last: bool,
}

impl JournalPage {
    /// Reads a page of the records of `run` in `project`, including rotated journals: the lines
    /// after the first `after` ones. It has about 256 KiB at most, but at least one line if there
    /// is one, however long.
    ///
    /// # Errors
    ///
    /// As for [`Journal::read_all`].
    pub fn read(project: &Project, run: &RunId, after: u64) -> Result<Self, JournalReadError> {
        let journal = Journal::read_all(project)?;
        Ok(Self::from_journal(&journal, run, after, MAX_PAGE_SIZE))
    }

    fn from_journal(journal: &Journal, run: &RunId, after: u64, max_size: usize) -> Self {
        let run_entries = || journal.entries().iter().filter(|entry| entry.run == *run);
        let all = run_entries().count();
        let after = usize::try_from(after).map_or(all, |after| after.min(all));
        let mut size = 0;
        let entries: Vec<_> = run_entries()
            .skip(after)
            .take_while(|entry| {
                let is_first = size == 0;
                // A line that was read can always be serialised.
                size += serde_json::to_string(entry).map_or(0, |line| line.len());
                is_first || size <= max_size
            })
            .cloned()
            .collect();
        let next = after + entries.len();
        Self {
            entries,
            next: next as u64,
            is_last: next == all,
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use serde_json::json;

    use super::*;
    use crate::project::FileJournal;
    use crate::run::{Durability, JournalLine, RunJournal};
    use crate::time::Epoch;

    /// Creates a journal with `count` lines of a run, interleaved with lines of another one.
    fn journal(count: u64) -> Journal {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::find(folder.path(), None).expect("a project");
        let journal = FileJournal::open(&project).expect("writable");
        let write = |run: &str, epoch| {
            let line = JournalLine::FlowResumed {
                epoch: Epoch(epoch),
            };
            let run = RunId::new(run);
            let written = journal.append(&run, Timestamp::UNIX_EPOCH, &line, Durability::Written);
            written.expect("writable");
        };
        for epoch in 0..count {
            write("shop", epoch);
            write("other", epoch);
        }
        Journal::read(&project.journal_path()).expect("readable")
    }

    fn epochs(page: &JournalPage) -> Vec<u64> {
        let epoch = |entry: &JournalEntry| match &entry.line {
            JournalLine::FlowResumed { epoch } => epoch.0,
            line => panic!("{line:?}"),
        };
        page.entries.iter().map(epoch).collect()
    }

    #[test]
    fn pages_have_all_lines_of_the_run_once_and_in_order() {
        let (journal, run) = (journal(5), RunId::new("shop"));
        let two_lines = 200;
        let mut seen = Vec::new();
        let mut after = 0;
        loop {
            let page = JournalPage::from_journal(&journal, &run, after, two_lines);
            assert!(page.entries.len() <= 2, "{page:?}");
            seen.extend(epochs(&page));
            after = page.next;
            if page.is_last {
                break;
            }
        }

        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_line_that_is_longer_than_a_page_is_a_page() {
        let page = JournalPage::from_journal(&journal(2), &RunId::new("shop"), 0, 1);

        assert_eq!(
            (epochs(&page), page.next, page.is_last),
            (vec![0], 1, false)
        );
    }

    #[test]
    fn a_reader_that_knows_more_lines_than_there_are_gets_the_real_count() {
        let page = JournalPage::from_journal(&journal(2), &RunId::new("shop"), 7, MAX_PAGE_SIZE);

        assert_eq!((epochs(&page), page.next, page.is_last), (vec![], 2, true));
    }

    #[test]
    fn a_request_is_serialised_as_documented() {
        let shop = ProjectName::new("shop").expect("a name");
        let ask = JournalPageRequest::new(shop, RunId::new("shop-1")).wait(Duration::from_secs(2));

        let written = serde_json::to_value(&ask).expect("JSON");

        let expected = json!({"project": "shop", "run": "shop-1", "after": 0, "waitMs": 2000});
        assert_eq!(written, expected);
        let read: JournalPageRequest = serde_json::from_value(expected).expect("it is read");
        assert_eq!(read, ask);
        let outside = json!({"project": "../shop", "run": "shop-1"});
        assert!(serde_json::from_value::<JournalPageRequest>(outside).is_err());
    }
}
