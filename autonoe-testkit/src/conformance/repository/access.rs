//! Loads and saves that say what went wrong.

use autonoe_core::{
    DeliverableRepository, Epoch, Fence, LedgerState, RepositoryErrorKind, Revision, Snapshot,
};

use crate::conformance::checks::{Finding, Flaw};

/// Loads, and takes an error as a failure.
pub(super) async fn load(repository: &dyn DeliverableRepository) -> Finding<Option<Snapshot>> {
    repository.load().await.map_err(|error| {
        Flaw::Failed(format!(
            "it could not be loaded ({}): {error}",
            error.code()
        ))
    })
}

/// Loads what must be there.
pub(super) async fn loaded(repository: &dyn DeliverableRepository) -> Finding<Snapshot> {
    load(repository)
        .await?
        .ok_or_else(|| Flaw::Failed("what was saved loads as nothing".into()))
}

/// Saves what must be accepted.
pub(super) async fn save(
    repository: &dyn DeliverableRepository,
    state: &LedgerState,
    base: Option<&Revision>,
    epoch: u64,
) -> Finding<Revision> {
    let fence = Fence {
        base: base.cloned(),
        epoch: Epoch(epoch),
    };
    repository
        .save(state, fence.clone())
        .await
        .map_err(|error| Flaw::Failed(format!("{fence:?} was refused ({}): {error}", error.code())))
}

/// Saves what must be refused as `kind`, and looks that nothing has changed.
pub(super) async fn refused(
    repository: &dyn DeliverableRepository,
    state: &LedgerState,
    base: Option<&Revision>,
    epoch: u64,
    kind: RepositoryErrorKind,
) -> Finding {
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
