//! [`LedgerStore`], concurrent access to the ledger for tools and runs.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::sync::Mutex;

use crate::event::Failure;
use crate::event::{Events, RunEventKind};
use crate::ledger::{
    DeliverableRepository, Fence, OwnedLedger, RepositoryError, RepositoryErrorKind, Revision,
    SavedLedger, Snapshot,
};
use crate::ledger::{FatalSignal, LedgerWatch};
use crate::ledger::{ForeignLedger, Ledger, LedgerError, LedgerState, StatusChange};
use crate::time::Clock;
use crate::time::Epoch;
use crate::tool::{ToolError, ToolErrorCode};

/// Maximum number of attempts to save. Another process may save between a load and a save, but not
/// this many times in a row.
const MAX_ATTEMPTS: usize = 32;

/// Number of foreign changes to the ledger that a run tolerates before it stops.
const MAX_FOREIGN_CHANGES: u32 = 1;

/// Concurrent access to the ledger for tools and runs. Parallel changes are serialised, so none is
/// lost.
///
/// Cheap to clone; clones share one lock.
///
/// ```
/// use autonoe_core::ledger::{DeliverableId, LedgerStore, MemoryRepository};
/// use autonoe_core::time::SystemClock;
/// use autonoe_core::Deliverable;
///
/// # futures::executor::block_on(async {
/// let store = LedgerStore::open_shared(MemoryRepository::new(), SystemClock).await?;
/// let id = DeliverableId::new("DL-001")?;
///
/// store.update(|state, today| {
///     state.ledger.create([Deliverable::new(id.clone(), "Login", ["it works"])?], today)
/// })
/// .await?;
///
/// assert_eq!(store.read().await?.map(|state| state.ledger.counts().total), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct LedgerStore {
    repository: Arc<dyn DeliverableRepository>,
    clock: Arc<dyn Clock>,
    epoch: Epoch,
    /// Last saved ledger, if the ledger belongs to a run. Its lock serialises changes.
    saved: Arc<Mutex<Option<SavedLedger>>>,
    watch: Option<Arc<dyn LedgerWatch>>,
    lost: FatalSignal,
    saves: Arc<AtomicU64>,
    /// Number of restores, counted here only if there is no watch.
    restored: Arc<AtomicU32>,
    /// Reason to stop the run after too many foreign changes.
    refusal: Arc<OnceLock<String>>,
}

impl LedgerStore {
    /// Opens the ledger in `repository` beside a possibly running run, without taking it over.
    ///
    /// Changes are written with the current epoch of the ledger, because a higher epoch would fence
    /// off the run. A run in a project directory does not accept such changes: it restores [its
    /// ledger](crate::project::FileDeliverableRepository::owned_by_run).
    ///
    /// # Errors
    ///
    /// The repository cannot be read.
    pub async fn open_shared(
        repository: impl DeliverableRepository + 'static,
        clock: impl Clock + 'static,
    ) -> Result<Self, RepositoryError> {
        let epoch = repository.load().await?.map(|snapshot| snapshot.epoch);
        Ok(Self::new(repository, clock, epoch.unwrap_or_default()))
    }

    /// Opens the ledger in `repository` for writing with `epoch`.
    pub fn new(
        repository: impl DeliverableRepository + 'static,
        clock: impl Clock + 'static,
        epoch: Epoch,
    ) -> Self {
        Self {
            repository: Arc::new(repository),
            clock: Arc::new(clock),
            epoch,
            saved: Arc::default(),
            watch: None,
            lost: FatalSignal::default(),
            saves: Arc::default(),
            restored: Arc::default(),
            refusal: Arc::default(),
        }
    }

    /// Opens the ledger for the run that owns it and that saved `last`.
    pub(crate) fn open_owned(
        repository: Arc<dyn DeliverableRepository>,
        clock: Arc<dyn Clock>,
        last: Snapshot,
    ) -> Self {
        let mut store = Self::new(repository, clock, last.epoch);
        store.saved = Arc::new(Mutex::new(Some(SavedLedger::new(last))));
        store
    }

    /// Reports saves and foreign changes to `watch`.
    pub(crate) fn with_watch(mut self, watch: Arc<dyn LedgerWatch>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Returns the signal that reports the loss of the ledger.
    pub(crate) fn fatal_signal(&self) -> &FatalSignal {
        &self.lost
    }

    /// Returns how many times this ledger and its clones have saved a change.
    pub(crate) fn saves(&self) -> u64 {
        self.saves.load(Ordering::Relaxed)
    }

    /// Returns the epoch of the writer.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns the last saved state, or `None` if nothing has been saved.
    ///
    /// # Errors
    ///
    /// The repository cannot be read, or a writer with a higher epoch has taken over, since a run
    /// that can no longer write should not continue. If something else keeps changing the ledger of
    /// a run, that is an error, too.
    pub async fn read(&self) -> Result<Option<LedgerState>, RepositoryError> {
        let loaded = self.load(&mut *self.saved.lock().await).await;
        let Some(snapshot) = self.signal_loss(loaded)? else {
            return Ok(None);
        };
        if snapshot.epoch > self.epoch {
            let message = "another run has taken over the ledger";
            return Err(RepositoryError::new(RepositoryErrorKind::Fenced, message));
        }
        Ok(Some(snapshot.state))
    }

    /// Returns the ledger that the run saved last; `None` if the ledger belongs to no run.
    pub(crate) async fn saved_ledger(&self) -> Option<Ledger> {
        let saved = self.saved.lock().await;
        saved.as_ref().map(|saved| saved.last.state.ledger.clone())
    }

    /// Loads the ledger. The ledger of a run is restored first if something else changed it.
    async fn load(
        &self,
        saved: &mut Option<SavedLedger>,
    ) -> Result<Option<Snapshot>, RepositoryError> {
        let Some(saved) = saved else {
            return self.repository.load().await;
        };
        if let Some(message) = self.refusal.get() {
            return Err(foreign_change(message));
        }
        let OwnedLedger { snapshot, foreign } = self.repository.load_owned(saved).await?;
        if let Some(snapshot) = &snapshot
            && snapshot.revision != saved.last.revision
        {
            // An unconfirmed save completed, or another writer has saved.
            *saved = SavedLedger::new(snapshot.clone());
        }
        match foreign {
            Some(foreign) => self.report_restore(&foreign).map(|()| snapshot),
            None => Ok(snapshot),
        }
    }

    /// Reports a restored ledger, and returns an error after too many restores.
    fn report_restore(&self, foreign: &ForeignLedger) -> Result<(), RepositoryError> {
        tracing::warn!(%foreign, "the ledger was restored");
        let times = match &self.watch {
            Some(watch) => watch.record_restore(foreign),
            None => self.restored.fetch_add(1, Ordering::Relaxed) + 1,
        };
        if times <= MAX_FOREIGN_CHANGES {
            return Ok(());
        }
        let message = format!(
            "{foreign}. This is change {times} of that kind in this run, so the run stops. While a \
             run is under way, only its tools may change the ledger: find the process or the \
             command that writes to it, such as git in a session of the agent, and start again"
        );
        Err(foreign_change(self.refusal.get_or_init(|| message)))
    }

    /// Raises the fatal signal of the session if `result` means that nothing can be saved any more.
    fn signal_loss<T>(&self, result: Result<T, RepositoryError>) -> Result<T, RepositoryError> {
        if let Err(error) = &result
            && matches!(
                error.kind(),
                RepositoryErrorKind::Missing
                    | RepositoryErrorKind::Fenced
                    | RepositoryErrorKind::ForeignChange
            )
        {
            self.lost.raise(Failure::from(error));
        }
        result
    }

    /// Changes the ledger and saves it. Creates a new ledger if there is none.
    ///
    /// `change` may be called several times, each time with a freshly loaded state, until no other
    /// writer has saved in between. If it changes nothing, nothing is saved.
    ///
    /// # Errors
    ///
    /// `change` returned an error, or the repository failed. Nothing was saved.
    pub async fn update<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
    ) -> Result<T, UpdateError> {
        self.update_and_notify(change, |_| {}).await
    }

    /// Like [`update`](Self::update), and calls `notify` with the result before the next change can
    /// start, so that changes are reported in the order in which they were saved.
    pub(super) async fn update_and_notify<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
        notify: impl FnOnce(&T) + Send,
    ) -> Result<T, UpdateError> {
        match self.try_update(change, notify).await {
            Err(UpdateError::Repository(error)) => Ok(self.signal_loss(Err(error))?),
            updated => updated,
        }
    }

    async fn try_update<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
        notify: impl FnOnce(&T) + Send,
    ) -> Result<T, UpdateError> {
        let mut saved = self.saved.lock().await;
        let mut attempts = 1;
        loop {
            let today = self.clock.now().to_zoned(TimeZone::UTC).date();
            let snapshot = self.load(&mut saved).await?;
            let base = snapshot.as_ref().map(|snapshot| snapshot.revision.clone());
            let before = snapshot.map(|snapshot| snapshot.state);
            let mut state = before.clone().unwrap_or_else(|| LedgerState::new(today));
            let output = change(&mut state, today)?;
            if before.as_ref() == Some(&state) {
                return Ok(output);
            }
            self.record_save(before.as_ref(), &state)?;
            match self.save(state, base, &mut saved).await {
                Ok(()) => {
                    self.saves.fetch_add(1, Ordering::Relaxed);
                    notify(&output);
                    return Ok(output);
                }
                Err(error)
                    if error.kind() == RepositoryErrorKind::Conflict && attempts < MAX_ATTEMPTS =>
                {
                    attempts += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Records an imminent save, unless it leaves the deliverables unchanged.
    fn record_save(
        &self,
        before: Option<&LedgerState>,
        after: &LedgerState,
    ) -> Result<(), RepositoryError> {
        let Some(watch) = &self.watch else {
            return Ok(());
        };
        let from = before.map(|state| state.ledger.content_hash());
        let to = after.ledger.content_hash();
        if from == Some(to) {
            Ok(())
        } else {
            watch.record_save(from, to)
        }
    }

    async fn save(
        &self,
        state: LedgerState,
        base: Option<Revision>,
        saved: &mut Option<SavedLedger>,
    ) -> Result<(), RepositoryError> {
        let epoch = self.epoch;
        let Some(owned) = saved else {
            let fence = Fence { base, epoch };
            return self.repository.save(&state, fence).await.map(drop);
        };
        // The caller may drop this future. The save can still complete.
        owned.unconfirmed.push(state.clone());
        let revision = self.repository.save(&state, Fence { base, epoch }).await?;
        *owned = SavedLedger::new(Snapshot {
            state,
            revision,
            epoch,
        });
        Ok(())
    }
}

/// Emits an event for every change, skipping changes without effect.
pub(super) fn emit_changes(events: &Events, changes: &[StatusChange]) {
    for change in changes.iter().filter(|change| change.is_change()) {
        events.emit(RunEventKind::StatusChanged { change });
    }
}

impl std::fmt::Debug for LedgerStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LedgerStore")
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

/// Error: the ledger was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The ledger rejected the change.
    #[error(transparent)]
    Refused(#[from] LedgerError),
    /// The ledger could not be loaded or saved.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

impl From<UpdateError> for ToolError {
    fn from(error: UpdateError) -> Self {
        let code = match &error {
            UpdateError::Refused(error) => error_code(error),
            UpdateError::Repository(_) => ToolErrorCode::IO_ERROR,
        };
        ToolError::new(code, error.to_string())
    }
}

fn error_code(error: &LedgerError) -> ToolErrorCode {
    match error {
        LedgerError::DuplicateId { .. } => ToolErrorCode::DUPLICATE_ID,
        LedgerError::NotFound { .. } => ToolErrorCode::NOT_FOUND,
        LedgerError::IllegalTransition { .. } | LedgerError::Deprecated { .. } => {
            ToolErrorCode::INVALID_TRANSITION
        }
        LedgerError::BlankDescription { .. }
        | LedgerError::NoCriteria { .. }
        | LedgerError::EmptyBatch
        | LedgerError::PassedAndBlocked { .. } => ToolErrorCode::VALIDATION_ERROR,
    }
}

fn foreign_change(message: &str) -> RepositoryError {
    RepositoryError::new(RepositoryErrorKind::ForeignChange, message)
}
