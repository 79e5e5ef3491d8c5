//! A journal in pages, for who is not where it is.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Journal, JournalEntry, JournalReadError};
use crate::domain::RunId;
use crate::domain::duration::millis;
use crate::engine::{ProjectName, RunSpec};
use crate::project::Project;

/// The kind of jobs that give a [`JournalPage`], on the host that has the journal.
pub const JOURNAL_JOB: &str = "journal";

/// How large a page may be. What travels to an engine and back must be small.
const PAGE: usize = 256 * 1024;

/// Asks for a page of what a run has written down on a project that hosts know by its name: its
/// journal, or what observers of its sessions were told there.
///
/// ```
/// use autonoe_core::{JOURNAL_JOB, JournalAsk, ProjectName, RunId};
///
/// let ask = JournalAsk::new(ProjectName::new("shop")?, RunId::new("shop-1")).after(12);
/// let job = ask.named(RunId::new("journal-7"))?;
///
/// assert_eq!(job.job, JOURNAL_JOB);
/// assert_eq!(job.input["after"], 12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct JournalAsk {
    /// The project.
    pub project: ProjectName,
    /// The run.
    pub run: RunId,
    /// So many lines of its journal are known, from the first; for events, the place at which the
    /// page before has ended.
    #[serde(default)]
    pub after: u64,
    /// How long to wait for a line if there is none; not at all by default. A host may wait less.
    #[serde(default, rename = "waitMs", with = "millis")]
    pub wait: Duration,
}

impl JournalAsk {
    /// Asks for the first page.
    pub fn new(project: ProjectName, run: RunId) -> Self {
        Self {
            project,
            run,
            after: 0,
            wait: Duration::ZERO,
        }
    }

    /// Asks for the lines that follow the first `known` ones.
    #[must_use]
    pub fn after(mut self, known: u64) -> Self {
        self.after = known;
        self
    }

    /// Waits so long for a line if there is none.
    #[must_use]
    pub fn waiting(mut self, wait: Duration) -> Self {
        self.wait = wait;
        self
    }

    /// Makes what is submitted for a [`JournalPage`].
    ///
    /// # Errors
    ///
    /// It cannot be written as JSON.
    pub fn named(&self, id: RunId) -> Result<RunSpec, serde_json::Error> {
        Ok(RunSpec::new(id, JOURNAL_JOB, serde_json::to_value(self)?))
    }
}

/// Some of the lines that a run has written down, whole and in order.
///
/// ```
/// use autonoe_core::{JournalPage, Project, RunId};
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
    /// Where the next page begins. It is less than was asked for if there are fewer lines than
    /// that: then the journal is another one.
    pub next: u64,
    /// Whether there was nothing more when it was read.
    pub is_last: bool,
}

impl JournalPage {
    /// Reads a page of what `run` has written down in `project`, also in journals that were put
    /// aside: what follows on the first `after` lines. It has some 256 KiB at most, and one line
    /// at least if there is one, however long.
    ///
    /// # Errors
    ///
    /// As for [`Journal::read_all`].
    pub fn read(project: &Project, run: &RunId, after: u64) -> Result<Self, JournalReadError> {
        let journal = Journal::read_all(project)?;
        Ok(Self::of(&journal, run, after, PAGE))
    }

    fn of(journal: &Journal, run: &RunId, after: u64, most: usize) -> Self {
        let of_run = || journal.entries().iter().filter(|entry| entry.run == *run);
        let all = of_run().count();
        let after = usize::try_from(after).map_or(all, |after| after.min(all));
        let mut size = 0;
        let entries: Vec<_> = of_run()
            .skip(after)
            .take_while(|entry| {
                let is_first = size == 0;
                // A line that was read is always written.
                size += serde_json::to_string(entry).map_or(0, |line| line.len());
                is_first || size <= most
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
    use crate::domain::Epoch;
    use crate::project::FileJournal;
    use crate::run::{Durability, JournalLine, RunJournal};

    /// A journal in which a run has written `count` lines, and another one between each two.
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
            let page = JournalPage::of(&journal, &run, after, two_lines);
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
        let page = JournalPage::of(&journal(2), &RunId::new("shop"), 0, 1);

        assert_eq!(
            (epochs(&page), page.next, page.is_last),
            (vec![0], 1, false)
        );
    }

    #[test]
    fn who_knows_more_lines_than_there_are_is_told_so() {
        let page = JournalPage::of(&journal(2), &RunId::new("shop"), 7, PAGE);

        assert_eq!((epochs(&page), page.next, page.is_last), (vec![], 2, true));
    }

    #[test]
    fn what_is_asked_is_written_as_documented() {
        let shop = ProjectName::new("shop").expect("a name");
        let ask = JournalAsk::new(shop, RunId::new("shop-1")).waiting(Duration::from_secs(2));

        let written = serde_json::to_value(&ask).expect("JSON");

        let expected = json!({"project": "shop", "run": "shop-1", "after": 0, "waitMs": 2000});
        assert_eq!(written, expected);
        let read: JournalAsk = serde_json::from_value(expected).expect("it is read");
        assert_eq!(read, ask);
        let elsewhere = json!({"project": "../shop", "run": "shop-1"});
        assert!(serde_json::from_value::<JournalAsk>(elsewhere).is_err());
    }
}
