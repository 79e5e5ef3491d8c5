//! Where the ledger is kept.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;

use crate::domain::{Epoch, Failure, ForeignLedger, LedgerState, Retry};

/// Keeps the ledger.
///
/// An implementer owes:
/// - `save` is all or nothing and durable: once it returned, a crash loses nothing;
/// - `save` refuses a [`Fence`] whose `base` is not the latest revision
///   ([`RepositoryErrorKind::Conflict`]) or whose `epoch` is lower than the
///   highest seen ([`RepositoryErrorKind::Fenced`], also when both fail), and
///   changes nothing then;
/// - each successful `save` gives a new [`Revision`];
/// - what cannot be read is an error ([`RepositoryErrorKind::Corrupt`]) and is
///   kept; it never loads as empty.
///
/// A caller may assume that all methods can be called at the same time. It is
/// not for anything but the ledger. Check yours with
/// `autonoe_testkit::conformance::deliverable_repository`.
///
/// ```
/// use autonoe_core::{DeliverableRepository, Epoch, Fence, LedgerState, MemoryRepository};
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
/// // Who has not seen the latest revision cannot overwrite it.
/// assert!(repository.save(&state, first).await.is_err());
/// repository.save(&state, Fence { base: Some(revision), epoch: Epoch(1) }).await?;
/// # Ok::<(), autonoe_core::RepositoryError>(())
/// # }).expect("it works");
/// ```
#[async_trait]
pub trait DeliverableRepository: Send + Sync {
    /// Returns what was saved last, or `None` if nothing has been saved.
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError>;

    /// Saves `state` if `fence` holds, and returns its revision.
    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError>;

    /// Loads the ledger for the run that owns it.
    ///
    /// The provided implementation loads, and so accepts what others have saved. A store that
    /// others can write to without [`save`](Self::save), such as a file, restores what the run
    /// saved last if it finds anything else, keeps what it found, and returns it as
    /// [`OwnedLedger::foreign`]. A ledger that another run has taken over is an error
    /// ([`RepositoryErrorKind::Fenced`]). A repository around another one delegates this method.
    async fn load_owned(&self, saved: &SavedLedger) -> Result<OwnedLedger, RepositoryError> {
        let _ = saved;
        Ok(OwnedLedger {
            snapshot: self.load().await?,
            foreign: None,
        })
    }
}

/// What the run that owns a ledger saved last.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedLedger {
    /// The last state whose save returned, or that was loaded since.
    pub last: Snapshot,
    /// States made from `last` whose save the caller did not wait for: one of them may have been
    /// saved.
    pub unconfirmed: Vec<LedgerState>,
}

impl SavedLedger {
    /// Describes a ledger whose last save returned.
    pub fn new(last: Snapshot) -> Self {
        Self {
            last,
            unconfirmed: Vec::new(),
        }
    }
}

/// A ledger as the run that owns it loads it.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnedLedger {
    /// The ledger of the run; `None` if nothing has been saved.
    pub snapshot: Option<Snapshot>,
    /// What was found in its place, if anything was.
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

/// A ledger as it was saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// What was saved.
    pub state: LedgerState,
    /// Names this version of it.
    pub revision: Revision,
    /// The highest epoch that has written.
    pub epoch: Epoch,
}

impl Snapshot {
    /// Returns the epoch with which the ledger can be taken over.
    ///
    /// # Errors
    ///
    /// The last epoch that can be written has been used: nobody could be told from whoever wrote
    /// with it. Nothing counts that far; it was written by mistake.
    pub fn next_epoch(&self) -> Result<Epoch, RepositoryError> {
        self.epoch.next().ok_or_else(|| {
            let Epoch(last) = self.epoch;
            let message = format!(
                "the epoch of the ledger is {last}, after which there is none, so that no run can \
                 take it over; it was left as it is: write a lower epoch into it"
            );
            RepositoryError::new(RepositoryErrorKind::Corrupt, message)
        })
    }
}

/// What must hold for a write to go through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The revision that the new state was made from; `None`: there must be none yet.
    pub base: Option<Revision>,
    /// Who writes: refused when someone with a higher epoch has taken over.
    pub epoch: Epoch,
}

/// Names one saved version of a ledger. Opaque: only equality means anything.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Revision(String);

impl Revision {
    /// Takes `text` as the name of a version.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a ledger could not be loaded or saved. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct RepositoryError {
    kind: RepositoryErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl RepositoryError {
    /// Makes an error; `message` is a sentence that names the place.
    pub fn new(kind: RepositoryErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            source: None,
        }
    }

    /// Adds what caused it.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns what kind of error it is.
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
            RepositoryErrorKind::Gone => "ledger_gone",
            RepositoryErrorKind::ForeignChange => "ledger_foreign_change",
        }
    }

    /// Tells whether another try may succeed.
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
            Retry::MayHelp
        } else {
            Retry::Useless
        };
        Failure::from_error(error.code(), error, retry)
    }
}

/// What kind of error a repository met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RepositoryErrorKind {
    /// Someone else saved in between: load again, then try again.
    Conflict,
    /// Someone with a higher epoch has taken over, or the run that owned the ledger has ended: stop
    /// writing.
    Fenced,
    /// What is saved cannot be understood. It was kept as it is.
    Corrupt,
    /// The place cannot be reached, read or written.
    Unavailable,
    /// The place was moved, removed or replaced while it was in use: stop writing.
    Gone,
    /// Something other than the run changed the ledger more than once: stop the run.
    ForeignChange,
}
