//! Repository whose nth load or save fails.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{
    Fence, LedgerState, OwnedLedger, RepositoryError, RepositoryErrorKind, Revision, SavedLedger,
    Snapshot,
};

/// Wraps any repository and fails chosen calls as
/// [`Unavailable`](RepositoryErrorKind::Unavailable), like a full disk or a lost connection.
///
/// A failed call does not reach the wrapped repository, so nothing is changed.
///
/// ```
/// use autonoe_core::ledger::MemoryRepository;
/// use autonoe_core::DeliverableRepository;
/// use autonoe_testkit::{FaultyRepository, RepositoryCall};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let repository = FaultyRepository::new(MemoryRepository::new())
///     .with_fault_at(RepositoryCall::Load, 2);
///
/// assert!(repository.load().await.is_ok());
/// assert!(repository.load().await.is_err());
/// assert!(repository.load().await.is_ok());
/// // A test that never met its fault tests nothing.
/// assert_eq!(repository.hits(), [(RepositoryCall::Load, 2)]);
/// # });
/// ```
pub struct FaultyRepository {
    inner: Arc<dyn DeliverableRepository>,
    faults: BTreeSet<(RepositoryCall, usize)>,
    seen: Mutex<Seen>,
}

/// A method of a [`DeliverableRepository`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RepositoryCall {
    /// [`DeliverableRepository::load`] or [`DeliverableRepository::load_owned`].
    Load,
    /// [`DeliverableRepository::save`].
    Save,
}

#[derive(Debug, Default)]
struct Seen {
    loads: usize,
    saves: usize,
    hits: Vec<(RepositoryCall, usize)>,
}

impl FaultyRepository {
    /// Wraps `inner`, a repository or an `Arc` of one. Without faults its behaviour is unchanged.
    pub fn new(inner: impl DeliverableRepository + 'static) -> Self {
        Self {
            inner: Arc::new(inner),
            faults: BTreeSet::new(),
            seen: Mutex::default(),
        }
    }

    /// Fails the `nth` call of this method, counted from 1. Can be repeated.
    ///
    /// # Panics
    ///
    /// If `nth` is 0.
    #[must_use]
    pub fn with_fault_at(mut self, call: RepositoryCall, nth: usize) -> Self {
        assert!(nth > 0, "calls of a repository are counted from 1");
        self.faults.insert((call, nth));
        self
    }

    /// Returns the failed calls with their numbers, in order.
    pub fn hits(&self) -> Vec<(RepositoryCall, usize)> {
        self.seen().hits.clone()
    }

    /// Returns how often `call` was made, including failed calls.
    pub fn calls(&self, call: RepositoryCall) -> usize {
        let seen = self.seen();
        match call {
            RepositoryCall::Load => seen.loads,
            RepositoryCall::Save => seen.saves,
        }
    }

    fn seen(&self) -> std::sync::MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a call, and returns the error if it is planned to fail.
    fn count(&self, call: RepositoryCall) -> Result<(), RepositoryError> {
        let mut seen = self.seen();
        let (count, verb) = match call {
            RepositoryCall::Load => (&mut seen.loads, "load"),
            RepositoryCall::Save => (&mut seen.saves, "save"),
        };
        *count += 1;
        let nth = *count;
        if !self.faults.contains(&(call, nth)) {
            return Ok(());
        }
        seen.hits.push((call, nth));
        Err(RepositoryError::new(
            RepositoryErrorKind::Unavailable,
            format!("injected fault: {verb} {nth} of the repository fails"),
        ))
    }
}

#[async_trait]
impl DeliverableRepository for FaultyRepository {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        self.count(RepositoryCall::Load)?;
        self.inner.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        self.count(RepositoryCall::Save)?;
        self.inner.save(state, fence).await
    }

    async fn load_owned(&self, saved: &SavedLedger) -> Result<OwnedLedger, RepositoryError> {
        self.count(RepositoryCall::Load)?;
        self.inner.load_owned(saved).await
    }
}

impl fmt::Debug for FaultyRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyRepository")
            .field("faults", &self.faults)
            .field("hits", &self.hits())
            .finish_non_exhaustive()
    }
}
