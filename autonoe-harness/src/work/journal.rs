//! [`WorkObserver`] of a task loop, and [`WorkJournal`], its append-only journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::event::Failure;

use super::{RecoveredState, WorkEvent};
use crate::folder::{
    FolderError, JournalEntry, MemberLogFile, append_entry, events_in, open_log, read_log,
};

/// Records the events of a task loop, for example in a journal or a database.
///
/// A recorded event must be durable once the call returns. Events arrive one after the other, all
/// of one run: tasks and messages of two runs may have the same names.
#[async_trait]
pub trait WorkObserver: Send + Sync {
    /// Records an event.
    ///
    /// # Errors
    ///
    /// It cannot be recorded. Then the work ends as failed: unrecorded work cannot be resumed.
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure>;

    /// Returns the state of the run, replayed from its recorded events. The loop resumes from it:
    /// it repeats no finished work, delivers no message twice, and counts earlier spending.
    ///
    /// By default the state is empty, which is right for observers that store nothing.
    ///
    /// # Errors
    ///
    /// It cannot be read. Then nothing starts.
    async fn recovered_state(&self) -> Result<RecoveredState, Failure> {
        Ok(RecoveredState::default())
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<O: WorkObserver + ?Sized> WorkObserver for Arc<O> {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        (**self).note(event).await
    }

    async fn recovered_state(&self) -> Result<RecoveredState, Failure> {
        (**self).recovered_state().await
    }
}

#[async_trait]
impl<F> WorkObserver for F
where
    F: Fn(&WorkEvent) -> Result<(), Failure> + Send + Sync,
{
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self(event)
    }
}

/// Appends events to a file, one line of JSON each. Existing lines never change. In the folder of a
/// member, the facts about its processes are in the same file.
///
/// A partial last line left by a kill was never acknowledged: [`read`](Self::read) ignores it, and
/// opening the journal for writing truncates it. Anything else that is not an event is an error,
/// and the file stays as it is. Events are only written to the file that was opened: if it was
/// moved, removed or replaced meanwhile, that is an error.
///
/// ```
/// use autonoe_harness::work::{WorkEvent, WorkJournal, WorkObserver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("work.jsonl");
/// let event = WorkEvent::Closed { undelivered: vec!["Use tabs.".to_owned()] };
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
    log: MemberLogFile,
}

impl WorkJournal {
    /// Opens the journal at `path`, or creates it.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or is corrupt.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        read_log(path)?;
        Ok(Self {
            path: path.to_owned(),
            log: open_log(path)?,
        })
    }

    /// Reads the journal at `path`; a missing file has no events.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is corrupt: the error has the line number.
    pub fn read(path: &Path) -> Result<Vec<WorkEvent>, FolderError> {
        Ok(events_in(read_log(path)?))
    }
}

#[async_trait]
impl WorkObserver for WorkJournal {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        let entry = JournalEntry::Work(Box::new(event.clone()));
        append_entry(&self.log, &self.path, &entry).map_err(|error| error.failure("not_recorded"))
    }

    async fn recovered_state(&self) -> Result<RecoveredState, Failure> {
        let events = Self::read(&self.path).map_err(|error| error.failure("journal"))?;
        Ok(events.iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use autonoe_core::RunId;
    use jiff::Timestamp;

    use super::*;

    fn event(text: &str) -> WorkEvent {
        WorkEvent::Closed {
            undelivered: vec![text.to_owned()],
        }
    }

    #[tokio::test]
    async fn a_torn_line_hides_no_other() {
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
    async fn a_corrupt_line_is_an_error_with_its_number_and_the_file_stays() {
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
                assert!(matches!(error, FolderError::Corrupt { .. }), "{foreign}");
                assert!(error.to_string().contains("line 2"), "{error}");
            }
            assert_eq!(std::fs::read_to_string(&path).expect("a file"), with);
        }
    }

    #[tokio::test]
    async fn an_event_is_never_written_to_a_removed_journal() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("work.jsonl");
        let journal = WorkJournal::open(&path).expect("a file");
        journal.note(&event("one")).await.expect("it is written");

        std::fs::remove_file(&path).expect("ours");

        let failure = journal.note(&event("two")).await.expect_err("it is gone");
        assert!(failure.message.contains("is gone"), "{failure:?}");
        assert!(!path.exists());
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

    #[tokio::test]
    async fn a_closure_is_a_work_observer_and_may_fail() {
        let at = Timestamp::UNIX_EPOCH;
        let opened = WorkEvent::Opened {
            run: RunId::new("member"),
            at,
        };
        let task_started = WorkEvent::TaskStarted {
            task: "login".parse().expect("a name"),
            at,
        };
        let only_opened: Arc<dyn WorkObserver> = Arc::new(|event: &WorkEvent| match event {
            WorkEvent::Opened { .. } => Ok(()),
            _ => Err(Failure::permanent("full", "there is no room")),
        });

        assert_eq!(only_opened.note(&opened).await, Ok(()));
        let refused = only_opened.note(&task_started).await;
        assert_eq!(refused.expect_err("there is no room").code, "full");
    }
}
