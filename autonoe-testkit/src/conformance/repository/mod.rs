//! Conformance suites for ledger repositories.

mod concurrency;
mod fencing;
mod reopened;
mod round_trip;
mod sample;

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{Fence, LedgerState, RepositoryErrorKind, Revision, Snapshot};
use autonoe_core::time::Epoch;
use futures::FutureExt;
use futures::future::BoxFuture;

use crate::conformance::checks::{CheckOutcome, Checks, Conformance, Flaw, within};

pub use reopened::{corrupt_repository, reopened_repository};

/// The time limit of one check.
const LIMIT: Duration = Duration::from_secs(300);

/// Checks a [`DeliverableRepository`] against its contract.
///
/// Each call of `make` returns a fresh repository without a saved ledger. [`reopened_repository`]
/// checks guarantees across a crash, and [`corrupt_repository`] checks unreadable content.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::ledger::MemoryRepository;
/// use autonoe_testkit::conformance;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// conformance::deliverable_repository(async || Arc::new(MemoryRepository::new()) as Arc<_>).await.assert();
/// # });
/// ```
pub async fn deliverable_repository(
    make: impl AsyncFn() -> Arc<dyn DeliverableRepository>,
) -> Conformance {
    let mut checks = Checks::new("deliverable repository");
    for (name, check) in CHECKS {
        checks
            .run(name, limited(async { check(make().await).await }))
            .await;
    }
    checks.finish()
}

type Repository = Arc<dyn DeliverableRepository>;

type Check = fn(Repository) -> BoxFuture<'static, CheckOutcome>;

const CHECKS: &[(&str, Check)] = &[
    ("a new repository loads nothing", |it| {
        round_trip::loads_as_nothing(it).boxed()
    }),
    ("deliverables are loaded as they were saved", |it| {
        round_trip::round_trips(it, sample::every_status()).boxed()
    }),
    ("fields that this version does not know are kept", |it| {
        round_trip::round_trips(it, sample::unknown_fields()).boxed()
    }),
    ("verification progress is kept", |it| {
        round_trip::verification_is_read_back(it).boxed()
    }),
    ("a snapshot names its revision and its epoch", |it| {
        round_trip::revision_and_epoch_are_read_back(it).boxed()
    }),
    ("a later save replaces an earlier one", |it| {
        round_trip::a_later_save_replaces(it).boxed()
    }),
    ("each save returns a new revision", |it| {
        round_trip::revisions_are_new(it).boxed()
    }),
    ("a first save is refused if there is saved data", |it| {
        fencing::a_first_save_is_the_first(it).boxed()
    }),
    ("a stale base is refused and changes nothing", |it| {
        fencing::a_stale_base_is_refused(it).boxed()
    }),
    ("a base is refused if there is no saved data", |it| {
        fencing::a_base_needs_something(it).boxed()
    }),
    ("a lower epoch is refused and changes nothing", |it| {
        fencing::a_lower_epoch_is_refused(it).boxed()
    }),
    (
        "the same and a higher epoch may write, and a higher one is kept",
        |it| fencing::a_higher_epoch_takes_over(it).boxed(),
    ),
    ("a refused save does not raise the epoch", |it| {
        fencing::a_refusal_leaves_the_epoch(it).boxed()
    }),
    ("changes at the same time are all kept", |it| {
        concurrency::no_update_is_lost(vec![it]).boxed()
    }),
    ("a load during saves sees the old or the new ledger", |it| {
        concurrency::readers_see_old_or_new(it).boxed()
    }),
    ("a run that owns the ledger loads its own saves", |it| {
        fencing::own_saves_are_not_foreign(it).boxed()
    }),
];

/// Fails a check that takes too long.
async fn limited(check: impl Future<Output = CheckOutcome>) -> CheckOutcome {
    within(LIMIT, "it", check).await?
}

/// Loads the ledger; an error fails the check.
async fn load(repository: &dyn DeliverableRepository) -> CheckOutcome<Option<Snapshot>> {
    repository
        .load()
        .await
        .map_err(|error| Flaw::Failed(format!("cannot load it ({}): {error}", error.code())))
}

/// Loads a ledger that must exist.
async fn loaded(repository: &dyn DeliverableRepository) -> CheckOutcome<Snapshot> {
    load(repository)
        .await?
        .ok_or_else(|| Flaw::Failed("nothing is loaded after a save".into()))
}

/// Saves a ledger that must be accepted.
async fn save(
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
async fn refused(
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
