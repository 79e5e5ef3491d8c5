//! What a member writes down while it works.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{Clock, Failure};
use tokio::sync::{Mutex, OnceCell};

use super::FleetHome;
use super::member_events::MemberEvents;
use super::member_said::Said;
use super::order::MemberOrder;
use crate::{
    AlertManager, Claim, Claimant, ExecutionRecord, HarnessFolder, HarnessId, HarnessLog,
    HarnessPlan, HarnessStatus, ProgressSample, Severity, SharedContext, SharedError, SqliteState,
    StateError, StateStore, TaskEnd, TaskId, TaskPlan, TaskStatus, WorkEvent, WorkJournal,
    WorkObserver, WorkSoFar,
};

/// How long a claim is taken to be alive. It hardly matters: who serves the folder holds its lock,
/// and gives back what those before it had claimed.
const LEASE: Duration = Duration::from_secs(24 * 60 * 60);

/// How often it is looked whether a pause was seen.
const SOON: Duration = Duration::from_millis(50);

/// How often at most: folders are looked at every second.
const LOOKS: usize = 200;

/// Takes note of the work of a member: in its journal, which is what counts, then in its state, its
/// log and its alerts.
pub(super) struct MemberRecord {
    pub(super) id: HarnessId,
    pub(super) folder: HarnessFolder,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) alerts: AlertManager,
    home: FleetHome,
    shared: OnceCell<SharedContext>,
    journal: WorkJournal,
    state: SqliteState,
    claimant: Claimant,
    log: std::sync::Mutex<HarnessLog>,
    now: Mutex<Now>,
    /// Whether a critical alert asks for a pause.
    pauses: bool,
}

/// What is being worked on.
#[derive(Default)]
struct Now {
    claim: Option<Claim>,
    /// What the agent said in its last turn.
    answer: String,
    said: Said,
    /// `None` until the run is opened.
    events: Option<MemberEvents>,
}

impl MemberRecord {
    /// Opens what is kept of a member, and takes up what its process before had begun.
    pub(super) async fn open(
        home: FleetHome,
        folder: HarnessFolder,
        order: &MemberOrder,
        clock: Arc<dyn Clock>,
        alerts: AlertManager,
    ) -> Result<Self, Failure> {
        let path = journal_of(&folder);
        let journal = WorkJournal::open(&path).map_err(|error| {
            Failure::permanent("journal", format!("{path:?} cannot be opened: {error}"))
        })?;
        let state = SqliteState::open(&folder.path().join("state.db")).await;
        let served = folder
            .state()
            .map_err(|error| Failure::permanent("member_folder", error.to_string()))?;
        let epoch = served.map_or(1, |served| served.epoch.0);
        let log = HarnessLog::open(&folder)
            .map_err(|error| Failure::permanent("member_folder", error.to_string()))?;
        let id = folder.id().clone();
        let record = Self {
            claimant: Claimant::new(format!("{id}#{epoch}")).with_lease(LEASE),
            id,
            folder,
            clock,
            alerts,
            home,
            shared: OnceCell::new(),
            journal,
            state: state.map_err(not_kept)?,
            log: log.into(),
            now: Mutex::default(),
            pauses: order.pause_on_critical,
        };
        let so_far = record.journal.so_far().await?;
        record.catch_up(order, &so_far).await.map_err(not_kept)?;
        record.catch_up_events().await?;
        Ok(record)
    }

    /// Brings the state to where the journal is: a kill may have come between the two.
    async fn catch_up(&self, order: &MemberOrder, so_far: &WorkSoFar) -> Result<(), StateError> {
        let (state, now) = (&self.state, self.clock.now());
        let tasks = order.work.tasks.iter().cloned().map(TaskPlan::from);
        let mut plan = HarnessPlan::new(self.id.clone(), tasks);
        plan.roadmap.clone_from(&order.roadmap);
        state.init_harness(&plan, now).await?;
        for task in state.get_incomplete_tasks().await? {
            if let (TaskStatus::InProgress, Some(owner)) = (task.status, task.owner) {
                state.release_owner(&owner, now).await?;
            }
        }
        for (id, result) in so_far.done() {
            self.settle(id, TaskEnd::completed(result.answer.clone()))
                .await?;
        }
        for (id, why) in so_far.failed() {
            self.settle(id, TaskEnd::failed(why)).await?;
        }
        Ok(())
    }

    /// Emits the events that the journal has and a kill kept from being shared.
    async fn catch_up_events(&self) -> Result<(), Failure> {
        let entries = self.entries().map_err(|error| {
            Failure::permanent("journal", format!("the journal cannot be read: {error}"))
        })?;
        let events = MemberEvents::of_journal(&self.id, &entries);
        if let Some(events) = &events {
            self.emit(events, &entries).await;
        }
        self.now.lock().await.events = events;
        Ok(())
    }

    /// Returns all entries of the journal.
    pub(super) fn entries(&self) -> io::Result<Vec<WorkEvent>> {
        WorkJournal::read(&journal_of(&self.folder))
    }

    /// Opens what the members of the fleet share, or returns it if it is open.
    pub(super) async fn shared(&self) -> Result<&SharedContext, SharedError> {
        self.shared.get_or_try_init(|| self.home.shared()).await
    }

    /// Ends a task of which the journal knows that it has ended.
    async fn settle(&self, id: &TaskId, end: TaskEnd) -> Result<(), StateError> {
        let found = self.state.load_task(id).await?;
        match found {
            Some(found) if !found.status.is_ended() => {
                let now = self.clock.now();
                self.state.update_task_status(id, &end.into(), now).await
            }
            _ => Ok(()),
        }
    }

    async fn keep(&self, now: &mut Now, event: &WorkEvent) -> Result<(), StateError> {
        let (state, at) = (&self.state, self.clock.now());
        match event {
            WorkEvent::Began { task, .. } => now.claim = Some(self.claim(task).await?),
            WorkEvent::Iterated { .. } => self.keep_iteration(now, event).await?,
            WorkEvent::Ended {
                success, reason, ..
            } => {
                let end = match success {
                    true => TaskEnd::completed(std::mem::take(&mut now.answer)),
                    false => TaskEnd::failed(reason),
                };
                if let Some(claim) = now.claim.take() {
                    state.finish(&claim, &end, at).await?;
                }
            }
            WorkEvent::Stopped { .. } => {
                if let Some(claim) = now.claim.take() {
                    state.give_back(&claim, at).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Claims the task that the loop begins: both begin the first that is ready.
    async fn claim(&self, task: &TaskId) -> Result<Claim, StateError> {
        let at = self.clock.now();
        let claimed = self.state.claim_next(&self.claimant, at).await?;
        let Some(claim) = claimed else {
            return Err(StateError::Unknown(format!(
                "task that is ready, and {task} begins"
            )));
        };
        if claim.id() == task {
            return Ok(claim);
        }
        self.state.give_back(&claim, at).await?;
        let what = format!("the task {task} begins, and {} comes first", claim.id());
        Err(StateError::Invalid(what))
    }

    async fn keep_iteration(&self, now: &mut Now, event: &WorkEvent) -> Result<(), StateError> {
        let WorkEvent::Iterated {
            task,
            iteration,
            at,
            end,
            verification,
            score,
            signal,
            output,
            result,
            duration_ms,
            ..
        } = event
        else {
            return Ok(());
        };
        let duration = Duration::from_millis(*duration_ms);
        let attempt = now.claim.as_ref().map_or(1, |claim| claim.attempt);
        let record = match result {
            Some(result) => {
                now.answer = match result.answer.as_str() {
                    "" => result.output.clone(),
                    answer => answer.to_owned(),
                };
                ExecutionRecord::of(attempt, result)
            }
            None => ExecutionRecord {
                task: task.clone(),
                attempt,
                success: *end == crate::ExecutionEnd::Completed,
                output: output.clone(),
                error: Some(verification.reason().to_owned()),
                duration,
                started_at: at.checked_sub(duration).unwrap_or(*at),
            },
        };
        self.state.log_execution(&record).await?;
        let sample = ProgressSample::new(task.clone(), *iteration, *score, signal.clone(), *at);
        self.state.save_progress(&sample).await?;
        if let Some(claim) = &now.claim {
            self.state.renew(claim, self.clock.now()).await?;
        }
        Ok(())
    }

    pub(super) fn line(&self, text: &str) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        log.line(self.clock.now(), text);
    }

    /// Raises an alert. That it cannot be written down holds nothing up.
    pub(super) async fn alert(&self, alert: crate::Alert) {
        if let Err(error) = self.alerts.alert(alert.of(self.id.clone())).await {
            tracing::warn!(%error, "an alert of a member cannot be kept");
            self.line(&format!("error: {error}"));
        }
    }

    /// Waits until who serves the folder has seen that it is to hold, so that nothing begins in
    /// between; or until somebody has taken that back.
    async fn until_held(&self) {
        for _ in 0..LOOKS {
            let is_asked = self.folder.is_pause_requested().unwrap_or(false);
            let state = self.folder.state().ok().flatten();
            let is_held = state.is_none_or(|state| state.status == HarnessStatus::Paused);
            if !is_asked || is_held {
                return;
            }
            self.clock.sleep(SOON).await;
        }
        self.line("warning: a critical alert asked for a pause, and nobody saw it");
    }

    /// Waits until everybody was told of all alerts.
    pub(super) async fn flush(&self) {
        self.alerts.flush().await;
    }
}

#[async_trait]
impl WorkObserver for MemberRecord {
    async fn note(&self, event: &WorkEvent) -> Result<(), Failure> {
        self.journal.note(event).await?;
        let mut now = self.now.lock().await;
        self.keep(&mut now, event).await.map_err(not_kept)?;
        let (line, alert) = now.said.of(event, self.clock.now());
        if let Some(line) = line {
            self.line(&line);
        }
        if now.events.is_none() {
            now.events = MemberEvents::of_journal(&self.id, [event]);
        }
        let events = now.events.clone();
        drop(now);
        if let Some(events) = events {
            self.emit(&events, std::slice::from_ref(event)).await;
        }
        if let Some(alert) = alert {
            let is_critical = alert.severity == Severity::Critical;
            self.alert(alert).await;
            if is_critical && self.pauses {
                self.until_held().await;
            }
        }
        Ok(())
    }

    async fn so_far(&self) -> Result<WorkSoFar, Failure> {
        self.journal.so_far().await
    }
}

fn journal_of(folder: &HarnessFolder) -> PathBuf {
    folder.path().join("work.jsonl")
}

/// What nobody knows of cannot be gone on with.
#[expect(clippy::needless_pass_by_value, reason = "it is given to `map_err`")]
fn not_kept(error: StateError) -> Failure {
    Failure::permanent("not_recorded", error.to_string())
}
