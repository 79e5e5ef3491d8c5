//! Progress of a session, measured by snapshots of its [`Workspace`].

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash};
use std::io;
use std::sync::Arc;

use super::run_context::RunContext;
use super::session_task::SessionResources;
use crate::agent::SessionProgress;
use crate::ledger::LedgerStore;
use crate::time::Mode;

/// The ledger and the files before a session.
pub(super) struct ProgressBaseline {
    ledger_saves: Option<u64>,
    snapshot: Option<WorkspaceSnapshot>,
}

impl RunContext {
    /// Records the state that a session starts from.
    pub(super) async fn progress_baseline(
        &self,
        resources: SessionResources<'_>,
    ) -> ProgressBaseline {
        ProgressBaseline {
            ledger_saves: resources.store.map(LedgerStore::saves),
            snapshot: self.workspace_snapshot().await,
        }
    }

    /// Compares the state after a session with its baseline.
    pub(super) async fn progress_since(
        &self,
        baseline: &ProgressBaseline,
        resources: SessionResources<'_>,
    ) -> SessionProgress {
        let ledger_saves = resources.store.map(LedgerStore::saves);
        if ledger_saves != baseline.ledger_saves {
            return SessionProgress::Some;
        }
        if self.parts.settings.limits.mode == Mode::Sync {
            return match ledger_saves {
                Some(_) => SessionProgress::None,
                None => SessionProgress::Unknown,
            };
        }
        match (baseline.snapshot, self.workspace_snapshot().await) {
            (Some(before), Some(after)) if before == after => SessionProgress::None,
            (Some(_), Some(_)) => SessionProgress::Some,
            _ => SessionProgress::Unknown,
        }
    }

    /// Takes a snapshot of the workspace; `None` if files do not count, cannot be read, or the run
    /// is cancelled meanwhile.
    async fn workspace_snapshot(&self) -> Option<WorkspaceSnapshot> {
        if self.parts.settings.limits.mode == Mode::Sync {
            return None;
        }
        let workspace = self.parts.settings.workspace.clone()?;
        let snapshot = async { tokio::task::spawn_blocking(move || workspace.snapshot()).await };
        let result = tokio::select! {
            biased;
            () = self.control.cancelled() => return None,
            result = snapshot => result,
        };
        match result {
            Ok(Ok(snapshot)) => Some(snapshot),
            Ok(Err(error)) => {
                tracing::warn!(%error, "progress in the project's files is not measured");
                None
            }
            Err(error) => {
                tracing::error!(%error, "the workspace snapshot panicked");
                None
            }
        }
    }
}

/// The files that a run works on.
///
/// A run takes a snapshot before and after each session. Equal snapshots mean that the session
/// changed no file and created no commit.
///
/// `snapshot` must return in bounded time, whatever an agent does to the files meanwhile. It may
/// block: the run calls it on a thread for blocking work, which needs a tokio runtime. A file that
/// disappears is a change, not an error.
///
/// Closures `Fn() -> io::Result<WorkspaceSnapshot>` implement it:
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::run::{Workspace, WorkspaceSnapshot};
///
/// let one_file: Arc<dyn Workspace> = Arc::new(|| {
///     let text = std::fs::read("/srv/project/main.rs")?;
///     Ok(WorkspaceSnapshot::new(&text))
/// });
/// ```
pub trait Workspace: Send + Sync {
    /// Takes a snapshot of the files.
    ///
    /// # Errors
    ///
    /// The files cannot be read, or there are too many of them. The progress of the session is
    /// unknown then, and the run continues.
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot>;
}

#[deny(clippy::missing_trait_methods)]
impl<W: Workspace + ?Sized> Workspace for Arc<W> {
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot> {
        (**self).snapshot()
    }
}

impl<F> Workspace for F
where
    F: Fn() -> io::Result<WorkspaceSnapshot> + Send + Sync,
{
    fn snapshot(&self) -> io::Result<WorkspaceSnapshot> {
        self()
    }
}

/// The state of the files that a run works on, as a digest to compare with another one.
///
/// Digests of different versions of this crate or of the Rust standard library cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkspaceSnapshot(u64);

impl WorkspaceSnapshot {
    /// Computes the digest of `state`.
    pub fn new(state: &(impl Hash + ?Sized)) -> Self {
        Self(BuildHasherDefault::<DefaultHasher>::default().hash_one(state))
    }
}
