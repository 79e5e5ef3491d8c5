//! Measures whether a session made progress.

use super::setting::Setting;
use super::task::Stand;
use crate::domain::{Mode, SessionProgress};
use crate::port::WorkspaceSnapshot;
use crate::tools::LedgerBook;

/// The ledger and the files before a session.
pub(super) struct ProgressBaseline {
    ledger_saves: Option<u64>,
    snapshot: Option<WorkspaceSnapshot>,
}

impl Setting {
    /// Records the state that a session starts from.
    pub(super) async fn progress_baseline(&self, stand: Stand<'_>) -> ProgressBaseline {
        ProgressBaseline {
            ledger_saves: stand.book.map(LedgerBook::saves),
            snapshot: self.workspace_snapshot().await,
        }
    }

    /// Compares the state after a session with the one that it started from.
    pub(super) async fn progress_since(
        &self,
        baseline: &ProgressBaseline,
        stand: Stand<'_>,
    ) -> SessionProgress {
        let ledger_saves = stand.book.map(LedgerBook::saves);
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

    /// Takes a snapshot of the files; `None` if they do not count, cannot be read, or the run is
    /// cancelled meanwhile.
    async fn workspace_snapshot(&self) -> Option<WorkspaceSnapshot> {
        if self.parts.limits.mode == Mode::Sync {
            return None;
        }
        let workspace = self.parts.workspace.clone()?;
        let take = async { tokio::task::spawn_blocking(move || workspace.snapshot()).await };
        let taken = tokio::select! {
            biased;
            () = self.control.cancelled() => return None,
            taken = take => taken,
        };
        match taken {
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
