//! Runs one attempt until it ends or is killed.

use std::sync::Arc;

use autonoe_core::project::{FileJournal, ProjectRunError};
use autonoe_core::time::SeededIds;
use autonoe_core::{ProjectRun, RunControl, RunReport};
use tokio::sync::Notify;

use super::attempt::RunAttempt;
use super::attempt::{CrashFn, TruncatedJournal};
use super::child;
use crate::VirtualClock;

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
        let run = make_run(attempt)
            .clock(Arc::new(VirtualClock::starting_at(attempt.start_time())))
            .configure(|runner| runner.ids(Arc::new(SeededIds::new(1))));
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
    let project = attempt.project();
    run.configure(move |runner| {
        let journal = FileJournal::open(&project).expect("the run has just opened it");
        runner.journal(Arc::new(TruncatedJournal::new(journal, line, death)))
    })
}
