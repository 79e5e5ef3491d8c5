//! A sub-harness in this process.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Clock, JobRunner, RunControl, RunDesk, RunEnding, RunMessage, RunOutcome, RunSpec, SystemClock,
};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinError};

use super::{HandleError, HarnessHandle, HarnessNotes};
use crate::folder::at_least;
use crate::serve::panicked;
use crate::{Alert, HarnessId, HarnessStatus, HarnessView};

/// A sub-harness in this process: a task, with nothing on disk. For tests and embedders.
///
/// It goes on when the handle is dropped, as one with a process does.
///
/// ```
/// use autonoe_core::{JobRunner, RunDesk, RunId, RunOutcome, RunRequest, RunSpec};
/// use autonoe_harness::{HarnessHandle, HarnessStatus, LocalHandle};
/// use serde_json::{Value, json};
///
/// /// Waits for an instruction, and does it.
/// struct Obedient;
///
/// #[async_trait::async_trait]
/// impl JobRunner for Obedient {
///     async fn run(&self, _: &RunSpec, desk: &RunDesk) -> RunOutcome {
///         loop {
///             if let RunRequest::Say(message) = desk.control().next_request().await {
///                 let told = json!(message.text());
///                 message.settle();
///                 return RunOutcome::succeeded(told);
///             }
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let order = RunSpec::new(RunId::new("a"), "obey", Value::Null);
/// let handle = LocalHandle::start(order, Obedient);
///
/// handle.send_instruction("Use Postgres.").await?;
/// let outcome = handle.wait().await?;
///
/// assert_eq!(outcome.output, json!("Use Postgres."));
/// assert_eq!(handle.status(), HarnessStatus::Completed);
/// # Ok(())
/// # }
/// ```
pub struct LocalHandle {
    id: HarnessId,
    control: RunControl,
    clock: Arc<dyn Clock>,
    notes: HarnessNotes,
    work: AbortHandle,
    shared: Arc<Shared>,
}

/// What the handle and the task share.
struct Shared {
    view: watch::Sender<HarnessView>,
    sent: Mutex<u64>,
}

impl LocalHandle {
    /// Starts a run in this process.
    ///
    /// # Panics
    ///
    /// It is not called in a tokio runtime.
    pub fn start(order: RunSpec, runner: impl JobRunner + 'static) -> Self {
        Self::start_with(order, runner, SystemClock, HarnessNotes::default())
    }

    /// Starts a run in this process, with a clock of its own and notes that its runner may know.
    ///
    /// # Panics
    ///
    /// It is not called in a tokio runtime.
    pub fn start_with(
        order: RunSpec,
        runner: impl JobRunner + 'static,
        clock: impl Clock + 'static,
        notes: HarnessNotes,
    ) -> Self {
        let clock: Arc<dyn Clock> = Arc::new(clock);
        let id = HarnessId::new(order.id.as_str());
        let control = RunControl::new();
        let shared = Arc::new(Shared {
            view: watch::Sender::new(HarnessView {
                status: HarnessStatus::Running,
                pid: Some(std::process::id()),
                ..HarnessView::pending(id.clone())
            }),
            sent: Mutex::default(),
        });
        notes.line(format!("{} started", clock.now()));
        let reported = shared.clone();
        let desk = RunDesk::new(control.clone(), move |at| {
            reported.view.send_modify(|view| view.at = at);
        });
        let work = tokio::spawn(async move { runner.run(&order, &desk).await });
        let abort = work.abort_handle();
        let (told, noted, now) = (shared.clone(), notes.clone(), clock.clone());
        tokio::spawn(async move {
            let done = work.await;
            told.ended(done, &noted, &*now);
        });
        Self {
            id,
            control,
            clock,
            notes,
            work: abort,
            shared,
        }
    }

    fn note(&self, line: &str) {
        self.notes.line(format!("{} {line}", self.clock.now()));
    }

    /// Changes how it stands, unless it has ended.
    fn change(&self, change: impl FnOnce(&mut HarnessView)) -> Result<(), HandleError> {
        let mut has_ended = false;
        self.shared.view.send_modify(|view| {
            has_ended = view.outcome.is_some();
            if !has_ended {
                change(view);
            }
        });
        match has_ended {
            true => Err(HandleError::Ended(self.id.clone())),
            false => Ok(()),
        }
    }
}

impl Shared {
    fn ended(&self, done: Result<RunOutcome, JoinError>, notes: &HarnessNotes, clock: &dyn Clock) {
        self.view.send_modify(|view| {
            let spent = at_least(view.at.spent);
            let mut outcome = match done {
                Ok(outcome) => outcome,
                Err(error) if error.is_panic() => panicked(spent),
                Err(_) => RunOutcome::cancelled("killed").with_spent(spent),
            };
            // Who was cancelled does not know why; who asked for it does.
            if let (RunEnding::Cancelled { reason }, Some(asked)) =
                (&mut outcome.ending, &view.stopping)
            {
                asked.clone_into(reason);
            }
            *view = view.clone().ended(outcome);
            notes.line(format!("{} ended: {:?}", clock.now(), view.status));
        });
    }

    fn sent(&self) -> MutexGuard<'_, u64> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl HarnessHandle for LocalHandle {
    fn id(&self) -> &HarnessId {
        &self.id
    }

    fn state_dir(&self) -> Option<&Path> {
        None
    }

    fn view(&self) -> HarnessView {
        self.shared.view.borrow().clone()
    }

    async fn refresh(&self) -> Result<HarnessView, HandleError> {
        Ok(self.view())
    }

    async fn send_instruction(&self, text: &str) -> Result<u64, HandleError> {
        // Held until it is in the queue, so that numbers and the order in it agree.
        let mut sent = self.shared.sent();
        self.change(|_| {})?;
        *sent += 1;
        let message = RunMessage::new(text).with_id(sent.to_string());
        self.control.tell(message);
        self.note(&format!("instruction {sent} given"));
        Ok(*sent)
    }

    async fn pause(&self) -> Result<(), HandleError> {
        self.change(|view| view.status = HarnessStatus::Paused)?;
        self.control.pause();
        self.note("pause asked for");
        Ok(())
    }

    async fn resume(&self) -> Result<(), HandleError> {
        self.change(|view| view.status = HarnessStatus::Running)?;
        self.control.resume();
        self.note("resume asked for");
        Ok(())
    }

    async fn stop(&self, reason: &str) -> Result<(), HandleError> {
        let stopping = |view: &mut HarnessView| {
            view.stopping.get_or_insert_with(|| reason.to_owned());
        };
        if self.change(stopping).is_ok() {
            self.control.cancel();
            self.note(&format!("stop asked for: {reason}"));
        }
        Ok(())
    }

    async fn kill(&self, after: Duration) -> Result<RunOutcome, HandleError> {
        self.stop("killed").await?;
        tokio::select! {
            biased;
            outcome = self.wait() => return outcome,
            () = self.clock.sleep(after) => {}
        }
        self.work.abort();
        self.wait().await
    }

    async fn wait(&self) -> Result<RunOutcome, HandleError> {
        let mut view = self.shared.view.subscribe();
        let ended = view.wait_for(|view| view.outcome.is_some()).await;
        let outcome = ended.ok().and_then(|view| view.outcome.clone());
        // The sender is ours, so somebody tells.
        Ok(outcome.unwrap_or_else(|| panicked(at_least(self.view().at.spent))))
    }

    async fn logs(&self, tail: usize) -> Result<Vec<String>, HandleError> {
        Ok(self.notes.tail(tail))
    }

    async fn alerts(&self) -> Result<Vec<Alert>, HandleError> {
        Ok(self.notes.alerts())
    }
}

impl fmt::Debug for LocalHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalHandle")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}
