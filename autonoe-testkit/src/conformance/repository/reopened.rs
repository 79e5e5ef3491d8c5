//! Checks that a saved ledger survives reopening the repository.

use std::sync::Arc;

use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::RepositoryErrorKind::{Conflict, Fenced};

use super::access::{load, loaded, refused, save};
use super::{concurrency, limited, sample};
use crate::conformance::checks::{CheckOutcome, Checks};
use crate::conformance::report::Conformance;

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
