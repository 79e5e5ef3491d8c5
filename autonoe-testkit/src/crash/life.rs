//! A life of a run, from its start to its end or its death.

use std::sync::Arc;

use autonoe_core::{FileJournal, ProjectRun, ProjectRunError, RunControl, RunReport, SeededIds};
use tokio::sync::Notify;

use super::attempt::RunAttempt;
use super::attempt::{Death, UpToLine};
use super::child;
use crate::VirtualClock;

/// Makes the run of an attempt.
pub(super) type MakeRun = dyn Fn(&RunAttempt) -> ProjectRun;

/// How a life comes to its end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// As the run decides.
    OfItself,
    /// The run is dropped after this line of its journal.
    DroppedAfter(usize),
    /// The whole process stands still after this line, for whoever started it to kill it.
    StandsStillAfter(usize),
}

/// Lives through an attempt in virtual time; gives no report if the run was dropped.
///
/// The runtime is made here and goes with the life: when this returns, nothing
/// of it is under way any more.
pub(super) fn live(
    make_run: &MakeRun,
    attempt: &RunAttempt,
    ending: Ending,
) -> Result<Option<RunReport>, ProjectRunError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        // One thread does its work in order, so that `finish_blocking_work` can wait for all of it.
        .max_blocking_threads(1)
        .build()
        .expect("a runtime can be made");
    runtime.block_on(async {
        let dropped = Arc::new(Notify::new());
        let run = make_run(attempt)
            .clock(Arc::new(VirtualClock::starting_at(attempt.begins_at())))
            .configure(|runner| runner.ids(Arc::new(SeededIds::new(1))));
        let run = match ending {
            Ending::OfItself => run,
            Ending::DroppedAfter(line) => {
                let dropped = dropped.clone();
                with_death(run, attempt, line, Box::new(move || dropped.notify_one()))
            }
            Ending::StandsStillAfter(line) => {
                with_death(run, attempt, line, Box::new(child::stand_still))
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

/// Waits for all blocking work that was started. A save of the ledger whose run was dropped is part
/// of it: without this wait, the next life would find it done or not, as it happens.
async fn finish_blocking_work() {
    let last = tokio::task::spawn_blocking(|| {});
    last.await.expect("the runtime is there");
}

fn with_death(run: ProjectRun, attempt: &RunAttempt, line: usize, death: Death) -> ProjectRun {
    let project = attempt.project();
    run.configure(move |runner| {
        let journal = FileJournal::open(&project).expect("the run has just opened it");
        runner.journal(Arc::new(UpToLine::new(journal, line, death)))
    })
}
