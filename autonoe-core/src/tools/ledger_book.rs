//! The ledger as tools and runs use it: read, change, save, tell.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::sync::Mutex;

use super::{LedgerWatch, LostGround};
use crate::domain::{
    Epoch, Failure, ForeignLedger, Ledger, LedgerError, LedgerState, StatusChange,
};
use crate::port::{
    Clock, DeliverableRepository, Events, Fence, OwnedLedger, RepositoryError, RepositoryErrorKind,
    Revision, RunEventKind, SavedLedger, Snapshot, ToolError, ToolErrorCode,
};

/// Another process may save between our load and our save; so often in a row
/// that all of these tries fail, it does not.
const TRIES: usize = 32;

/// How often something else may change the ledger of a run before the run stops.
const FOREIGN_CHANGES: u32 = 1;

/// The ledger as tools and runs use it: changes in parallel take turns, none is lost.
///
/// Cheap to clone; clones take turns with each other.
///
/// ```
/// use autonoe_core::{Deliverable, DeliverableId, LedgerBook, MemoryRepository, SystemClock};
///
/// # futures::executor::block_on(async {
/// let book = LedgerBook::beside(MemoryRepository::new(), SystemClock).await?;
/// let id = DeliverableId::new("DL-001")?;
///
/// book.update(|state, today| {
///     state.ledger.create([Deliverable::new(id.clone(), "Login", ["it works"])?], today)
/// })
/// .await?;
///
/// assert_eq!(book.read().await?.map(|state| state.ledger.counts().total), Some(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct LedgerBook {
    repository: Arc<dyn DeliverableRepository>,
    clock: Arc<dyn Clock>,
    epoch: Epoch,
    /// What the run saved last, if the ledger belongs to one. Its lock is the turn to change it.
    saved: Arc<Mutex<Option<SavedLedger>>>,
    watch: Option<Arc<dyn LedgerWatch>>,
    lost: LostGround,
    saves: Arc<AtomicU64>,
    /// How often the ledger was restored, if nothing watches it.
    restored: Arc<AtomicU32>,
    /// Why the run stops after too many foreign changes.
    refusal: Arc<OnceLock<String>>,
}

impl LedgerBook {
    /// Opens the ledger in `repository` beside a run that may be under way, without taking it over.
    ///
    /// It writes as the epoch that the ledger has. A higher one would fence off the run. A run in
    /// a project directory does not accept such changes: it restores
    /// [its ledger](crate::FileDeliverableRepository::owned_by_run).
    ///
    /// # Errors
    ///
    /// The repository cannot be read.
    pub async fn beside(
        repository: impl DeliverableRepository + 'static,
        clock: impl Clock + 'static,
    ) -> Result<Self, RepositoryError> {
        let epoch = repository.load().await?.map(|snapshot| snapshot.epoch);
        Ok(Self::new(repository, clock, epoch.unwrap_or_default()))
    }

    /// Opens the ledger in `repository`, to write as `epoch`.
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
            lost: LostGround::default(),
            saves: Arc::default(),
            restored: Arc::default(),
            refusal: Arc::default(),
        }
    }

    /// Opens the ledger for the run that owns it and that saved `last`.
    pub(crate) fn owned(
        repository: Arc<dyn DeliverableRepository>,
        clock: Arc<dyn Clock>,
        last: Snapshot,
    ) -> Self {
        let mut book = Self::new(repository, clock, last.epoch);
        book.saved = Arc::new(Mutex::new(Some(SavedLedger::new(last))));
        book
    }

    /// Reports saves and foreign changes to `watch`.
    pub(crate) fn watched(mut self, watch: Arc<dyn LedgerWatch>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Returns what tells that the ledger is lost.
    pub(crate) fn lost(&self) -> &LostGround {
        &self.lost
    }

    /// Returns how often this book and its clones have saved a changed ledger.
    pub(crate) fn saves(&self) -> u64 {
        self.saves.load(Ordering::Relaxed)
    }

    /// Returns who writes.
    pub fn epoch(&self) -> Epoch {
        self.epoch
    }

    /// Returns what was saved last, or `None` if nothing has been saved.
    ///
    /// # Errors
    ///
    /// The repository cannot be read, or someone with a higher epoch has taken
    /// over: who cannot write any more should not go on working either. So is a
    /// ledger of a run that something else keeps changing.
    pub async fn read(&self) -> Result<Option<LedgerState>, RepositoryError> {
        let loaded = self.load(&mut *self.saved.lock().await).await;
        let Some(snapshot) = self.note_loss(loaded)? else {
            return Ok(None);
        };
        if snapshot.epoch > self.epoch {
            let message = "another run has taken over the ledger";
            return Err(RepositoryError::new(RepositoryErrorKind::Fenced, message));
        }
        Ok(Some(snapshot.state))
    }

    /// Returns what the run saved last; `None` if the ledger belongs to no run.
    pub(crate) async fn saved_ledger(&self) -> Option<Ledger> {
        let saved = self.saved.lock().await;
        saved.as_ref().map(|saved| saved.last.state.ledger.clone())
    }

    /// Loads the ledger. Before that, the ledger of a run is restored if something else changed it.
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
            Some(foreign) => self.restored(&foreign).map(|()| snapshot),
            None => Ok(snapshot),
        }
    }

    /// Reports a restored ledger, and refuses to continue when it happens too often.
    fn restored(&self, foreign: &ForeignLedger) -> Result<(), RepositoryError> {
        tracing::warn!(%foreign, "the ledger was restored");
        let times = match &self.watch {
            Some(watch) => watch.record_restore(foreign),
            None => self.restored.fetch_add(1, Ordering::Relaxed) + 1,
        };
        if times <= FOREIGN_CHANGES {
            return Ok(());
        }
        let message = format!(
            "{foreign}. This is change {times} of that kind in this run, so the run stops. While a \
             run is under way, only its tools may change the ledger: find the process or the \
             command that writes to it, such as git in a session of the agent, and start again"
        );
        Err(foreign_change(self.refusal.get_or_init(|| message)))
    }

    /// Tells the session that nothing can be saved any more, if that is so.
    fn note_loss<T>(&self, done: Result<T, RepositoryError>) -> Result<T, RepositoryError> {
        if let Err(error) = &done
            && matches!(
                error.kind(),
                RepositoryErrorKind::Gone
                    | RepositoryErrorKind::Fenced
                    | RepositoryErrorKind::ForeignChange
            )
        {
            self.lost.lost(Failure::from(error));
        }
        done
    }

    /// Changes the ledger and saves it; begins a new one if there is none.
    ///
    /// `change` may be called several times, each time with a freshly loaded
    /// state, until nobody else has saved in between. If it changes nothing,
    /// nothing is saved.
    ///
    /// # Errors
    ///
    /// `change` refused, or the repository failed. Nothing was saved.
    pub async fn update<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
    ) -> Result<T, UpdateError> {
        self.update_and_tell(change, |_| {}).await
    }

    /// Does the same and tells what came of it before anybody else's turn, so
    /// that changes are told in the order in which they were saved.
    pub(super) async fn update_and_tell<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
        tell: impl FnOnce(&T) + Send,
    ) -> Result<T, UpdateError> {
        match self.try_update(change, tell).await {
            Err(UpdateError::Repository(error)) => Ok(self.note_loss(Err(error))?),
            updated => updated,
        }
    }

    async fn try_update<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
        tell: impl FnOnce(&T) + Send,
    ) -> Result<T, UpdateError> {
        let mut saved = self.saved.lock().await;
        let mut tries = 1;
        loop {
            let today = self.clock.now().to_zoned(TimeZone::UTC).date();
            let snapshot = self.load(&mut saved).await?;
            let base = snapshot.as_ref().map(|snapshot| snapshot.revision.clone());
            let before = snapshot.map(|snapshot| snapshot.state);
            let mut state = before.clone().unwrap_or_else(|| LedgerState::new(today));
            let told = change(&mut state, today)?;
            if before.as_ref() == Some(&state) {
                return Ok(told);
            }
            self.record_save(before.as_ref(), &state)?;
            match self.save(state, base, &mut saved).await {
                Ok(()) => {
                    self.saves.fetch_add(1, Ordering::Relaxed);
                    tell(&told);
                    return Ok(told);
                }
                Err(error) if error.kind() == RepositoryErrorKind::Conflict && tries < TRIES => {
                    tries += 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Records a save that is about to happen, unless it leaves the deliverables as they are.
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
        match from == Some(to) {
            true => Ok(()),
            false => watch.record_save(from, to),
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
        // The caller may stop waiting. The save can happen nevertheless.
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

/// Tells the observers of changes; those that changed nothing are left out.
pub(super) fn tell_changes(events: &Events, changes: &[StatusChange]) {
    for change in changes.iter().filter(|change| change.is_news()) {
        events.emit(RunEventKind::StatusChanged { change });
    }
}

impl std::fmt::Debug for LedgerBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LedgerBook")
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

/// Why a change of the ledger did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The ledger refused it.
    #[error(transparent)]
    Refused(#[from] LedgerError),
    /// It could not be loaded or saved.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

impl From<UpdateError> for ToolError {
    fn from(error: UpdateError) -> Self {
        let code = match &error {
            UpdateError::Refused(refusal) => code_of(refusal),
            UpdateError::Repository(_) => ToolErrorCode::IO_ERROR,
        };
        ToolError::new(code, error.to_string())
    }
}

fn code_of(refusal: &LedgerError) -> ToolErrorCode {
    match refusal {
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
