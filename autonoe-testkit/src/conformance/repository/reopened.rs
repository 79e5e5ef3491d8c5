//! Suites for a repository that is reopened or has unreadable content.

use std::sync::Arc;

use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::Fence;
use autonoe_core::ledger::RepositoryErrorKind::{self, Conflict, Fenced};
use autonoe_core::time::Epoch;

use super::{concurrency, limited, load, loaded, refused, sample, save};
use crate::conformance::checks::{CheckOutcome, Checks, Conformance};

/// Checks that several handles of a [`DeliverableRepository`] are consistent.
///
/// For repositories that outlive a process: a file, a database. `open(place)` opens the ledger at a
/// place, as another process would: every call with the same number opens the same ledger again,
/// and an unused number is an empty ledger.
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::{Arc, Mutex};
///
/// use autonoe_core::ledger::MemoryRepository;
/// use autonoe_testkit::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// let places: Mutex<HashMap<usize, Arc<MemoryRepository>>> = Mutex::default();
/// let open = async |place| places.lock().unwrap().entry(place).or_default().clone() as Arc<_>;
///
/// conformance::reopened_repository(open).await.assert();
/// # });
/// ```
pub async fn reopened_repository(
    open: impl AsyncFn(usize) -> Arc<dyn DeliverableRepository>,
) -> Conformance {
    let mut checks = Checks::new("reopened repository");
    checks
        .run(
            "one handle loads the saves of another",
            limited(is_shared(&open)),
        )
        .await;
    checks
        .run("places do not mix", limited(places_do_not_mix(&open)))
        .await;
    checks
        .run(
            "one handle's save makes the other's base stale",
            limited(is_fenced(&open)),
        )
        .await;
    checks
        .run(
            "changes through several handles at the same time are all kept",
            limited(async {
                let handles = [open(3).await, open(3).await, open(3).await];
                concurrency::no_update_is_lost(handles.into()).await
            }),
        )
        .await;
    checks.finish()
}

type Opened = Arc<dyn DeliverableRepository>;

async fn is_shared(open: &impl AsyncFn(usize) -> Opened) -> CheckOutcome {
    let early = open(0).await;
    let state = sample::every_status()?;
    let revision = save(&*open(0).await, &state, None, 3).await?;
    let saved = loaded(&*early).await?;
    ensure!(
        saved.state == state,
        "saved: {state:?}\nloaded: {:?}",
        saved.state
    );
    let late = loaded(&*open(0).await).await?;
    ensure!(
        saved == late,
        "an earlier handle loads {saved:?}, a later one {late:?}"
    );
    ensure!(
        late.revision == revision,
        "saved as {revision}, loaded as {}",
        late.revision
    );
    Ok(())
}

async fn places_do_not_mix(open: &impl AsyncFn(usize) -> Opened) -> CheckOutcome {
    save(&*open(1).await, &sample::with(&["A"])?, None, 3).await?;
    let other = load(&*open(10).await).await?;
    ensure!(
        other.is_none(),
        "a place that was never used loads as {other:?}"
    );
    Ok(())
}

async fn is_fenced(open: &impl AsyncFn(usize) -> Opened) -> CheckOutcome {
    let (one, other) = (open(2).await, open(2).await);
    let first = save(&*one, &sample::with(&["A"])?, None, 1).await?;
    refused(&*other, &sample::with(&["B"])?, None, 1, Conflict).await?;
    let second = save(&*other, &sample::with(&["A", "B"])?, Some(&first), 2).await?;
    refused(
        &*one,
        &sample::with(&["A", "C"])?,
        Some(&first),
        2,
        Conflict,
    )
    .await?;
    refused(&*one, &sample::with(&["A", "C"])?, Some(&second), 1, Fenced).await?;
    refused(
        &*open(2).await,
        &sample::with(&["D"])?,
        Some(&second),
        1,
        Fenced,
    )
    .await
}

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
