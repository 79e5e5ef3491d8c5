//! Checks of unreadable ledgers.

use std::sync::Arc;

use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{Fence, RepositoryErrorKind};
use autonoe_core::time::Epoch;

use super::{limited, sample};
use crate::conformance::checks::{CheckOutcome, Checks};
use crate::conformance::report::Conformance;

/// Checks that a [`DeliverableRepository`] preserves unreadable content and reports it.
///
/// Each call of `make` returns a repository whose stored content is not a ledger: truncated, not
/// JSON, both flags of a deliverable set.
///
/// ```
/// use std::sync::Arc;
///
/// use async_trait::async_trait;
/// use autonoe_core::ledger::{
///     Fence, LedgerState, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
/// };
/// use autonoe_core::DeliverableRepository;
/// use autonoe_testkit::conformance;
///
/// struct Garbage;
///
/// #[async_trait]
/// impl DeliverableRepository for Garbage {
///     async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
///         Err(RepositoryError::new(RepositoryErrorKind::Corrupt, "status.json is cut off"))
///     }
///
///     async fn save(&self, _: &LedgerState, _: Fence) -> Result<Revision, RepositoryError> {
///         Err(RepositoryError::new(RepositoryErrorKind::Corrupt, "status.json is cut off"))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// conformance::corrupt_repository(async || Arc::new(Garbage) as Arc<_>).await.assert();
/// # });
/// ```
pub async fn corrupt_repository(
    make: impl AsyncFn() -> Arc<dyn DeliverableRepository>,
) -> Conformance {
    let mut checks = Checks::new("corrupt repository");
    checks
        .run(
            "unreadable data is an error and never nothing",
            limited(async { is_corrupt(&*make().await).await }),
        )
        .await;
    checks
        .run(
            "a save does not replace unreadable data",
            limited(async { is_preserved(&*make().await).await }),
        )
        .await;
    checks.finish()
}

async fn is_corrupt(repository: &dyn DeliverableRepository) -> CheckOutcome {
    match repository.load().await {
        Ok(found) => ensure!(false, "it loads as {found:?}"),
        Err(error) => ensure!(
            error.kind() == RepositoryErrorKind::Corrupt,
            "the error is {:?}, not Corrupt: {error}",
            error.kind()
        ),
    }
    Ok(())
}

async fn is_preserved(repository: &dyn DeliverableRepository) -> CheckOutcome {
    let fence = Fence {
        base: None,
        epoch: Epoch(u64::MAX),
    };
    let saved = repository.save(&sample::with(&["A"])?, fence).await;
    ensure!(saved.is_err(), "a first save was accepted as {saved:?}");
    let after = repository.load().await;
    ensure!(after.is_err(), "after a refused save it loads as {after:?}");
    Ok(())
}
