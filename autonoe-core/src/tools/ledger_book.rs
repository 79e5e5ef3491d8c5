//! The ledger as tools and runs use it: read, change, save, tell.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tokio::sync::Mutex;

use super::LostGround;
use crate::domain::{Epoch, Failure, LedgerError, LedgerState, StatusChange};
use crate::port::{
    Clock, DeliverableRepository, Events, Fence, RepositoryError, RepositoryErrorKind,
    RunEventKind, ToolError, ToolErrorCode,
};

/// Another process may save between our load and our save; so often in a row
/// that all of these tries fail, it does not.
const TRIES: usize = 32;

/// The ledger as tools and runs use it: changes in parallel take turns, none is lost.
///
/// Cheap to clone; clones take turns with each other.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{Deliverable, DeliverableId, LedgerBook, MemoryRepository, SystemClock};
///
/// # futures::executor::block_on(async {
/// let repository = Arc::new(MemoryRepository::new());
/// let book = LedgerBook::beside(repository, Arc::new(SystemClock)).await?;
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
    turn: Arc<Mutex<()>>,
    lost: LostGround,
    saves: Arc<AtomicU64>,
}

impl LedgerBook {
    /// Opens the ledger in `repository` beside a run that may be under way, without taking it over.
    ///
    /// It writes as the epoch that the ledger has. A higher one would fence off the run.
    ///
    /// # Errors
    ///
    /// The repository cannot be read.
    pub async fn beside(
        repository: Arc<dyn DeliverableRepository>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, RepositoryError> {
        let epoch = repository.load().await?.map(|snapshot| snapshot.epoch);
        Ok(Self::new(repository, clock, epoch.unwrap_or_default()))
    }

    /// Opens the ledger in `repository`, to write as `epoch`.
    pub fn new(
        repository: Arc<dyn DeliverableRepository>,
        clock: Arc<dyn Clock>,
        epoch: Epoch,
    ) -> Self {
        Self {
            repository,
            clock,
            epoch,
            turn: Arc::default(),
            lost: LostGround::default(),
            saves: Arc::default(),
        }
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
    /// over: who cannot write any more should not go on working either.
    pub async fn read(&self) -> Result<Option<LedgerState>, RepositoryError> {
        let Some(snapshot) = self.repository.load().await? else {
            return Ok(None);
        };
        if snapshot.epoch > self.epoch {
            let message = "another run has taken over the ledger";
            return Err(RepositoryError::new(RepositoryErrorKind::Fenced, message));
        }
        Ok(Some(snapshot.state))
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
        let updated = self.try_update(change, tell).await;
        if let Err(UpdateError::Repository(error)) = &updated
            && matches!(
                error.kind(),
                RepositoryErrorKind::Gone | RepositoryErrorKind::Fenced
            )
        {
            self.lost.lost(Failure::from(error));
        }
        updated
    }

    async fn try_update<T>(
        &self,
        change: impl Fn(&mut LedgerState, Date) -> Result<T, LedgerError> + Send,
        tell: impl FnOnce(&T) + Send,
    ) -> Result<T, UpdateError> {
        let _turn = self.turn.lock().await;
        let mut tries = 1;
        loop {
            let today = self.clock.now().to_zoned(TimeZone::UTC).date();
            let snapshot = self.repository.load().await?;
            let base = snapshot.as_ref().map(|snapshot| snapshot.revision.clone());
            let before = snapshot.map(|snapshot| snapshot.state);
            let mut state = before.clone().unwrap_or_else(|| LedgerState::new(today));
            let told = change(&mut state, today)?;
            if before.as_ref() == Some(&state) {
                return Ok(told);
            }
            match self
                .repository
                .save(
                    &state,
                    Fence {
                        base,
                        epoch: self.epoch,
                    },
                )
                .await
            {
                Ok(_revision) => {
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
