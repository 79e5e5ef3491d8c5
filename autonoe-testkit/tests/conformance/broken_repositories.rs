//! Repositories that do not work at all.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{
    Fence, LedgerState, MemoryRepository, RepositoryError, Revision, Snapshot,
};
use autonoe_testkit::conformance::{
    Conformance, corrupt_repository, deliverable_repository, reopened_repository,
};

use crate::conformance::assert_fails;

type Loaded = Result<Option<Snapshot>, RepositoryError>;
type Saved = Result<Revision, RepositoryError>;

async fn checked<R: DeliverableRepository + Default + 'static>() -> Conformance {
    deliverable_repository(async || Arc::new(R::default()) as Arc<_>).await
}

/// Hangs once something has been saved.
#[derive(Default)]
struct Hangs(MemoryRepository);

#[async_trait]
impl DeliverableRepository for Hangs {
    async fn load(&self) -> Loaded {
        match self.0.load().await? {
            Some(_) => std::future::pending().await,
            None => Ok(None),
        }
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        self.0.save(state, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_hangs_is_found_and_does_not_hang_the_suite() {
    let report = checked::<Hangs>().await;

    let fine = [
        "a new repository loads nothing",
        "each save returns a new revision",
        "a base is refused if there is no saved data",
    ];
    assert_eq!(report.passed(), fine, "{report}");
    assert!(
        report
            .failures()
            .iter()
            .all(|failure| failure.problem == "it took longer than 300s")
    );
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_loads_garbage_as_nothing_is_found() {
    // This repository does not know the stored content.
    let report = corrupt_repository(async || Arc::new(MemoryRepository::new()) as Arc<_>).await;

    assert_fails(
        &report,
        &[
            "unreadable data is an error and never nothing",
            "a save does not replace unreadable data",
        ],
    );
}

/// Panics on save.
#[derive(Default)]
struct Panics;

#[async_trait]
impl DeliverableRepository for Panics {
    async fn load(&self) -> Loaded {
        Ok(None)
    }

    async fn save(&self, _: &LedgerState, _: Fence) -> Saved {
        panic!("the disk is full")
    }
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_a_failure_and_not_the_end_of_the_suite() {
    let report = checked::<Panics>().await;

    assert_eq!(
        report.passed(),
        ["a new repository loads nothing"],
        "{report}"
    );
    assert_eq!(report.failures().len(), 15);
    assert_eq!(
        report.failures()[0].problem,
        "it panicked: the disk is full"
    );
}

#[tokio::test(start_paused = true)]
async fn handles_that_know_nothing_of_each_other_are_found() {
    let report = reopened_repository(async |_| Arc::new(MemoryRepository::new()) as Arc<_>).await;

    assert_fails(
        &report,
        &[
            "one handle loads the saves of another",
            "one handle's save makes the other's base stale",
            "changes through several handles at the same time are all kept",
        ],
    );
}
