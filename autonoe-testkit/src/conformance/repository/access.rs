//! Checks that failed loads and saves return a useful error.

use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{Fence, LedgerState, RepositoryErrorKind, Revision, Snapshot};
use autonoe_core::time::Epoch;

use crate::conformance::checks::{CheckOutcome, Flaw};

/// Loads the ledger; an error fails the check.
pub(super) async fn load(repository: &dyn DeliverableRepository) -> CheckOutcome<Option<Snapshot>> {
    repository
        .load()
        .await
        .map_err(|error| Flaw::Failed(format!("cannot load it ({}): {error}", error.code())))
}

/// Loads a ledger that must exist.
pub(super) async fn loaded(repository: &dyn DeliverableRepository) -> CheckOutcome<Snapshot> {
    load(repository)
        .await?
        .ok_or_else(|| Flaw::Failed("nothing is loaded after a save".into()))
}

/// Saves a ledger that must be accepted.
pub(super) async fn save(
    repository: &dyn DeliverableRepository,
    state: &LedgerState,
    base: Option<&Revision>,
    epoch: u64,
) -> CheckOutcome<Revision> {
    let fence = Fence {
        base: base.cloned(),
        epoch: Epoch(epoch),
    };
    repository
        .save(state, fence.clone())
        .await
        .map_err(|error| Flaw::Failed(format!("{fence:?} was refused ({}): {error}", error.code())))
}

/// Saves a ledger that must be refused as `kind`, and checks that nothing has changed.
pub(super) async fn refused(
    repository: &dyn DeliverableRepository,
    state: &LedgerState,
    base: Option<&Revision>,
    epoch: u64,
    kind: RepositoryErrorKind,
) -> CheckOutcome {
    let before = load(repository).await?;
    let fence = Fence {
        base: base.cloned(),
        epoch: Epoch(epoch),
    };
    match repository.save(state, fence.clone()).await {
        Ok(_) => return Err(Flaw::Failed(format!("{fence:?} was accepted"))),
        Err(error) => ensure!(
            error.kind() == kind,
            "{fence:?} was refused as {:?}, not as {kind:?}: {error}",
            error.kind()
        ),
    }
    let after = load(repository).await?;
    ensure!(
        before == after,
        "a refused save changed {before:?} to {after:?}"
    );
    Ok(())
}
