//! [`DeliverableRepository`] trait, the storage of the ledger, and a repository in memory.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::event::{Failure, Retry};
use crate::ledger::{ForeignLedger, LedgerState};
use crate::time::Epoch;

/// Storage of the ledger.
///
/// Requirements for implementations:
/// - `save` is atomic and durable: once it has returned, a crash loses nothing.
/// - `save` rejects a [`Fence`] whose `base` is not the latest revision
///   ([`RepositoryErrorKind::Conflict`]) or whose `epoch` is lower than the highest one seen
///   ([`RepositoryErrorKind::Fenced`], also if both checks fail). A rejected save changes nothing.
/// - Each successful `save` returns a new [`Revision`].
/// - Unreadable content is an error ([`RepositoryErrorKind::Corrupt`]) and is preserved; it never
///   loads as empty.
///
/// All methods may be called concurrently. The repository stores nothing but the ledger. Test an
/// implementation with `autonoe_testkit::conformance::deliverable_repository`.
///
/// ```
/// use autonoe_core::ledger::{Fence, LedgerState, MemoryRepository};
/// use autonoe_core::time::Epoch;
/// use autonoe_core::DeliverableRepository;
/// use jiff::civil::date;
///
/// # futures::executor::block_on(async {
/// let repository = MemoryRepository::new();
/// assert!(repository.load().await?.is_none());
///
/// let state = LedgerState::new(date(2026, 1, 31));
/// let first = Fence { base: None, epoch: Epoch(1) };
/// let revision = repository.save(&state, first.clone()).await?;
///
/// // A writer that has not seen the latest revision cannot overwrite it.
/// assert!(repository.save(&state, first).await.is_err());
/// repository.save(&state, Fence { base: Some(revision), epoch: Epoch(1) }).await?;
/// # Ok::<(), autonoe_core::ledger::RepositoryError>(())
/// # }).expect("it works");
/// ```
#[async_trait]
pub trait DeliverableRepository: Send + Sync {
    /// Returns the last saved snapshot, or `None` if nothing has been saved.
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError>;

    /// Saves `state` if `fence` holds, and returns its revision.
    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError>;

    /// Loads the ledger for the run that owns it.
    ///
    /// The default implementation calls [`load`](Self::load) and accepts changes of other writers.
    /// A store that others can write to without [`save`](Self::save), such as a file, must restore
    /// the ledger that the run saved last if it finds anything else. It preserves the foreign
    /// content and returns it as [`OwnedLedger::foreign`]. If another run has taken over the
    /// ledger, that is an error ([`RepositoryErrorKind::Fenced`]). A repository that wraps another
    /// one must delegate this method.
    async fn load_owned(&self, saved: &SavedLedger) -> Result<OwnedLedger, RepositoryError> {
        let _ = saved;
        Ok(OwnedLedger {
            snapshot: self.load().await?,
            foreign: None,
        })
    }
}

/// Last state that the owner of a ledger saved.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedLedger {
    /// Last state whose save has returned, or that was loaded since.
    pub last: Snapshot,
    /// States derived from `last` whose save the caller did not wait for. One of them may have been
    /// saved.
    pub unconfirmed: Vec<LedgerState>,
}

impl SavedLedger {
    /// Describes a ledger whose last save has returned.
    pub fn new(last: Snapshot) -> Self {
        Self {
            last,
            unconfirmed: Vec::new(),
        }
    }
}

/// Ledger as loaded by the run that owns it.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedLedger {
    /// Ledger of the run; `None` if nothing has been saved.
    pub snapshot: Option<Snapshot>,
    /// Foreign content found in its place, if any.
    pub foreign: Option<ForeignLedger>,
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<R: DeliverableRepository + ?Sized> DeliverableRepository for Arc<R> {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        (**self).load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        (**self).save(state, fence).await
    }

    async fn load_owned(&self, saved: &SavedLedger) -> Result<OwnedLedger, RepositoryError> {
        (**self).load_owned(saved).await
    }
}

/// A saved version of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Saved state.
    pub state: LedgerState,
    /// Identifies this version.
    pub revision: Revision,
    /// Highest epoch that has written.
    pub epoch: Epoch,
}

impl Snapshot {
    /// Returns the epoch for taking over the ledger.
    ///
    /// # Errors
    ///
    /// The ledger has the highest possible epoch, so a new writer could not be distinguished from
    /// the last one. No real run reaches that epoch; it was written by mistake.
    pub fn next_epoch(&self) -> Result<Epoch, RepositoryError> {
        self.epoch.next().ok_or_else(|| {
            let Epoch(last) = self.epoch;
            let message = format!(
                "the epoch of the ledger is {last}, the highest possible one, so no run can \
                 take the ledger over; it is unchanged: write a lower epoch into it"
            );
            RepositoryError::new(RepositoryErrorKind::Corrupt, message)
        })
    }
}

/// Preconditions of a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// Revision that the new state is based on; `None` if nothing may have been saved yet.
    pub base: Option<Revision>,
    /// Epoch of the writer. The write is rejected if a writer with a higher epoch has taken over.
    pub epoch: Epoch,
}

/// Identifies one saved version of a ledger. Opaque: only equality is meaningful.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Revision(String);

impl Revision {
    /// Creates a revision from the repository's name for a version.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the revision as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Error: the ledger could not be loaded or saved. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RepositoryError {
    kind: RepositoryErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl RepositoryError {
    /// Creates an error. `message` is a sentence that names the location.
    pub fn new(kind: RepositoryErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Sets the cause of the error.
    #[must_use]
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the kind of the error.
    pub fn kind(&self) -> RepositoryErrorKind {
        self.kind
    }

    /// Returns a stable name for programs, for example `ledger_corrupt`.
    pub fn code(&self) -> &'static str {
        match self.kind {
            RepositoryErrorKind::Conflict => "ledger_conflict",
            RepositoryErrorKind::Fenced => "ledger_fenced",
            RepositoryErrorKind::Corrupt => "ledger_corrupt",
            RepositoryErrorKind::Unavailable => "ledger_unavailable",
            RepositoryErrorKind::Missing => "ledger_missing",
            RepositoryErrorKind::ForeignChange => "ledger_foreign_change",
        }
    }

    /// Returns whether a retry may succeed.
    pub fn is_retryable(&self) -> bool {
        matches!(
            self.kind,
            RepositoryErrorKind::Conflict | RepositoryErrorKind::Unavailable
        )
    }
}

impl From<&RepositoryError> for Failure {
    fn from(error: &RepositoryError) -> Self {
        let retry = if error.is_retryable() {
            Retry::Retryable
        } else {
            Retry::Permanent
        };
        Failure::from_error(error.code(), error, retry)
    }
}

/// Kind of a repository error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepositoryErrorKind {
    /// Another writer saved in between: load again, then retry.
    Conflict,
    /// A writer with a higher epoch has taken over, or the run that owned the ledger has ended:
    /// stop writing.
    Fenced,
    /// The saved content cannot be parsed. It was left unchanged.
    Corrupt,
    /// The storage cannot be reached, read or written.
    Unavailable,
    /// The storage was moved, removed or replaced while in use: stop writing.
    Missing,
    /// Something other than the run changed the ledger more than once: stop the run.
    ForeignChange,
}

/// In-memory ledger repository, for tests and for embedders that need no file.
#[derive(Debug, Default)]
pub struct MemoryRepository {
    saved: Mutex<Option<Saved>>,
}

#[derive(Debug)]
struct Saved {
    snapshot: Snapshot,
    writes: u64,
}

impl MemoryRepository {
    /// Creates an empty repository.
    pub fn new() -> Self {
        Self::default()
    }

    fn saved(&self) -> MutexGuard<'_, Option<Saved>> {
        // No code panics half-way through a change while it holds the lock.
        self.saved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DeliverableRepository for MemoryRepository {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        Ok(self.saved().as_ref().map(|saved| saved.snapshot.clone()))
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        let mut saved = self.saved();
        let latest = saved.as_ref().map(|saved| &saved.snapshot);
        if latest.is_some_and(|latest| fence.epoch < latest.epoch) {
            return Err(RepositoryError::new(
                RepositoryErrorKind::Fenced,
                "another run has taken over the ledger",
            ));
        }
        if latest.map(|latest| &latest.revision) != fence.base.as_ref() {
            return Err(RepositoryError::new(
                RepositoryErrorKind::Conflict,
                "the ledger has changed since it was read",
            ));
        }
        let writes = saved.as_ref().map_or(1, |saved| saved.writes + 1);
        let revision = Revision::new(writes.to_string());
        let snapshot = Snapshot {
            state: state.clone(),
            revision: revision.clone(),
            epoch: fence.epoch,
        };
        *saved = Some(Saved { snapshot, writes });
        Ok(revision)
    }
}
