//! One process lifetime of a run, its first start or a resume, until it ends or is killed.

use std::sync::{Arc, Mutex, PoisonError};

use autonoe_core::project::{
    FileJournal, Journal, OpenProject, OpenProjectOptions, ProjectRunError,
};
use autonoe_core::run::{Durability, JournalError, JournalLine, RunAction, RunJournal};
use autonoe_core::time::SeededIds;
use autonoe_core::{Project, ProjectRun, RunControl, RunId, RunReport};
use jiff::Timestamp;
use tokio::sync::Notify;

use super::child;
use crate::{ScriptedBackend, SessionScript, VirtualClock};

/// The start time of the first attempt of a run: midnight of 1 January 2026, UTC, as in
/// [`VirtualClock::new`](crate::VirtualClock::new).
const FIRST_START: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// One attempt of a run: uninterrupted, to be killed, or resumed.
///
/// [`CrashPoints`](crate::CrashPoints) builds a new run for each attempt.
#[derive(Debug)]
pub struct RunAttempt {
    project: Project,
    begins_at: Timestamp,
    first_session: u32,
    lost_session: Option<u32>,
    agents: Mutex<Vec<Arc<ScriptedBackend>>>,
}

impl RunAttempt {
    /// Prepares the first attempt of a run.
    pub(super) fn first(project: &Project) -> Self {
        Self {
            project: project.clone(),
            begins_at: FIRST_START,
            first_session: 1,
            lost_session: None,
            agents: Mutex::default(),
        }
    }

    /// Prepares resuming the run in `journal`; `None` if the run was not interrupted.
    pub(super) fn resumed(project: &Project, journal: &Journal) -> Option<Self> {
        let recorded = journal.interrupted_run()?;
        let lost_session = match recorded.interrupted_action() {
            RunAction::StartSession(plan) => Some(plan.number),
            _ => None,
        };
        let next = journal.run_histories().pop()?.sessions + 1;
        Some(Self {
            project: project.clone(),
            begins_at: journal.entries().last()?.at,
            first_session: lost_session.unwrap_or(next),
            lost_session,
            agents: Mutex::default(),
        })
    }

    /// Returns the project to run in, with the virtual clock of the attempt.
    pub fn project(&self) -> OpenProjectOptions {
        OpenProject::options(&self.project).clock(VirtualClock::starting_at(self.begins_at))
    }

    /// Returns the number of the first session of this attempt: more than 1 for most resumed
    /// attempts.
    pub fn first_session(&self) -> u32 {
        self.first_session
    }

    /// Returns the session that was interrupted when the run was killed, and is run again.
    pub fn lost_session(&self) -> Option<u32> {
        self.lost_session
    }

    /// Creates scripted agents from the scripts of the complete, uninterrupted run.
    ///
    /// Scripts of finished sessions are skipped. A repeated session may find that its interrupted
    /// predecessor has done its work, so its calls need not succeed any more; denied calls must
    /// still be denied. Deviations from the scripts are reported as problems of the crash point.
    pub fn agents(&self, scripts: impl IntoIterator<Item = SessionScript>) -> Arc<ScriptedBackend> {
        let scripts = (1..).zip(scripts).map(|(number, script)| {
            if self.lost_session == Some(number) {
                script.repeated()
            } else {
                script
            }
        });
        let agents = ScriptedBackend::resuming_at(self.first_session, scripts).unverified();
        let agents = Arc::new(agents);
        self.lock_agents().push(agents.clone());
        agents
    }

    /// Returns the deviations of this attempt's agents from their scripts.
    pub(super) fn problems(&self) -> Vec<String> {
        let agents = self.lock_agents();
        agents.iter().flat_map(|agents| agents.problems()).collect()
    }

    fn lock_agents(&self) -> std::sync::MutexGuard<'_, Vec<Arc<ScriptedBackend>>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Called once the last line is written.
pub(super) type CrashFn = Box<dyn Fn() + Send + Sync>;

/// Writes up to a given number of lines, then calls the `CrashFn` and writes no more.
pub(super) struct TruncatedJournal {
    inner: FileJournal,
    left: Mutex<usize>,
    death: CrashFn,
}

impl TruncatedJournal {
    pub(super) fn new(inner: FileJournal, lines: usize, death: CrashFn) -> Self {
        Self {
            inner,
            left: Mutex::new(lines),
            death,
        }
    }
}

impl RunJournal for TruncatedJournal {
    fn append(
        &self,
        run: &RunId,
        at: Timestamp,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), JournalError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if *left == 0 {
            return Err(JournalError::new("the run was interrupted here"));
        }
        self.inner.append(run, at, line, durability)?;
        *left -= 1;
        if *left == 0 {
            // Called under the lock: a death that does not return stops every other writer as well.
            (self.death)();
        }
        Ok(())
    }
}

/// Builds the run of an attempt.
pub(super) type MakeRun = dyn Fn(&RunAttempt) -> ProjectRun;

/// The end of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) enum AttemptEnd {
    /// The run ends by itself.
    Natural,
    /// The run is dropped after this line of its journal.
    DropAfter(usize),
    /// The process blocks after this line, so that its parent can kill it.
    BlockAfter(usize),
}

/// Runs an attempt in virtual time; returns no report if the run was dropped.
///
/// The runtime is created here and dropped at the end, so that nothing of the attempt is running
/// when this returns.
pub(super) fn run(
    make_run: &MakeRun,
    attempt: &RunAttempt,
    ending: AttemptEnd,
) -> Result<Option<RunReport>, ProjectRunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        // A single thread works in order, so that `finish_blocking_work` can wait for all of it.
        .max_blocking_threads(1)
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let dropped = Arc::new(Notify::new());
        let run = make_run(attempt).configure(|runner| runner.ids(Arc::new(SeededIds::new(1))));
        let run = match ending {
            AttemptEnd::Natural => run,
            AttemptEnd::DropAfter(line) => {
                let dropped = dropped.clone();
                with_death(run, attempt, line, Box::new(move || dropped.notify_one()))
            }
            AttemptEnd::BlockAfter(line) => {
                with_death(run, attempt, line, Box::new(child::block_forever))
            }
        };
        let control = RunControl::new();
        let ended = tokio::select! {
            biased;
            () = dropped.notified() => Ok(None),
            report = run.run(&control) => report.map(Some),
        };
        finish_blocking_work().await;
        ended
    })
}

/// Waits for all blocking work that was started. It may include a ledger save of a dropped run:
/// without this wait, the next attempt would find it finished or not, depending on timing.
async fn finish_blocking_work() {
    let last = tokio::task::spawn_blocking(|| {});
    last.await.expect("the runtime is there");
}

fn with_death(run: ProjectRun, attempt: &RunAttempt, line: usize, death: CrashFn) -> ProjectRun {
    let project = attempt.project.clone();
    run.configure(move |runner| {
        let journal = FileJournal::open(&project).expect("the run has just opened it");
        runner.journal(Arc::new(TruncatedJournal::new(journal, line, death)))
    })
}
