//! Measures whether a session made progress.

use super::run_context::RunContext;
use super::session_task::SessionResources;
use crate::agent::SessionProgress;
use crate::ledger::LedgerStore;
use crate::run::WorkspaceSnapshot;
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
            return SessionProgress::Made;
        }
        if self.parts.limits.mode == Mode::Sync {
            return match ledger_saves {
                Some(_) => SessionProgress::None,
                None => SessionProgress::Unknown,
            };
        }
        match (baseline.snapshot, self.workspace_snapshot().await) {
            (Some(before), Some(after)) if before == after => SessionProgress::None,
            (Some(_), Some(_)) => SessionProgress::Made,
            _ => SessionProgress::Unknown,
        }
    }

    /// Takes a snapshot of the workspace; `None` if files do not count, cannot be read, or the run
    /// is cancelled meanwhile.
    async fn workspace_snapshot(&self) -> Option<WorkspaceSnapshot> {
        if self.parts.limits.mode == Mode::Sync {
            return None;
        }
        let workspace = self.parts.workspace.clone()?;
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
