//! Repositories with one fault each.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{
    Fence, LedgerState, MemoryRepository, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
    VerificationTracker,
};
use autonoe_core::time::Epoch;
use autonoe_testkit::conformance::{Conformance, deliverable_repository};
use tokio::sync::Mutex;

use crate::conformance::assert_fails;

type Loaded = Result<Option<Snapshot>, RepositoryError>;
type Saved = Result<Revision, RepositoryError>;

async fn checked<R: DeliverableRepository + Default + 'static>() -> Conformance {
    deliverable_repository(async || Arc::new(R::default()) as Arc<_>).await
}

/// Replaces the base of a fence by the latest one.
async fn on_top(repository: &MemoryRepository, fence: Fence) -> Fence {
    let latest = repository.load().await.expect("memory can be read");
    Fence {
        base: latest.map(|latest| latest.revision),
        ..fence
    }
}

/// Overwrites the stored ledger unconditionally.
#[derive(Default)]
struct IgnoresBase(MemoryRepository);

#[async_trait]
impl DeliverableRepository for IgnoresBase {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        self.0.save(state, on_top(&self.0, fence).await).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_ignores_the_base_is_found() {
    assert_fails(
        &checked::<IgnoresBase>().await,
        &[
            "a first save is refused if there is saved data",
            "a stale base is refused and changes nothing",
            "a base is refused if there is no saved data",
            "a refused save does not raise the epoch",
            "changes at the same time are all kept",
        ],
    );
}

/// Allows every writer.
#[derive(Default)]
struct IgnoresEpoch(MemoryRepository, AtomicU64);

#[async_trait]
impl DeliverableRepository for IgnoresEpoch {
    async fn load(&self) -> Loaded {
        let epoch = Epoch(self.1.load(Ordering::Relaxed));
        Ok(self
            .0
            .load()
            .await?
            .map(|snapshot| Snapshot { epoch, ..snapshot }))
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let epoch = fence.epoch.0;
        let revision = self
            .0
            .save(
                state,
                Fence {
                    epoch: Epoch(0),
                    ..fence
                },
            )
            .await?;
        self.1.fetch_max(epoch, Ordering::Relaxed);
        Ok(revision)
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_ignores_the_epoch_is_found() {
    let report = checked::<IgnoresEpoch>().await;

    assert_fails(&report, &["a lower epoch is refused and changes nothing"]);
}

/// Adopts the epoch of a writer that it then refuses.
#[derive(Default)]
struct RaisesEpochOnRefusal(MemoryRepository, AtomicU64);

#[async_trait]
impl DeliverableRepository for RaisesEpochOnRefusal {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        if fence.epoch.0 < self.1.fetch_max(fence.epoch.0, Ordering::Relaxed) {
            return Err(RepositoryError::new(
                RepositoryErrorKind::Fenced,
                "you are too late",
            ));
        }
        self.0.save(state, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_raises_the_epoch_on_refusal_is_found() {
    let report = checked::<RaisesEpochOnRefusal>().await;

    assert_fails(&report, &["a refused save does not raise the epoch"]);
}

/// Reports a conflict to a fenced writer.
#[derive(Default)]
struct NamesTheConflictFirst(MemoryRepository);

#[async_trait]
impl DeliverableRepository for NamesTheConflictFirst {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let latest = self.0.load().await?.map(|latest| latest.revision);
        if latest != fence.base {
            let message = "the ledger has changed";
            return Err(RepositoryError::new(RepositoryErrorKind::Conflict, message));
        }
        self.0.save(state, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_names_the_conflict_before_the_takeover_is_found() {
    let report = checked::<NamesTheConflictFirst>().await;

    assert_fails(&report, &["a lower epoch is refused and changes nothing"]);
}

/// Derives a revision from the content, so that equal content repeats a revision.
#[derive(Default)]
struct ReusesRevisions(Mutex<Option<Snapshot>>);

#[async_trait]
impl DeliverableRepository for ReusesRevisions {
    async fn load(&self) -> Loaded {
        Ok(self.0.lock().await.clone())
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let mut saved = self.0.lock().await;
        let refused = |kind| Err(RepositoryError::new(kind, "no"));
        if saved
            .as_ref()
            .is_some_and(|saved| fence.epoch < saved.epoch)
        {
            return refused(RepositoryErrorKind::Fenced);
        }
        if saved.as_ref().map(|saved| &saved.revision) != fence.base.as_ref() {
            return refused(RepositoryErrorKind::Conflict);
        }
        let revision = Revision::new(serde_json::to_string(state).expect("it serialises"));
        let snapshot = Snapshot {
            state: state.clone(),
            revision: revision.clone(),
            epoch: fence.epoch,
        };
        *saved = Some(snapshot);
        Ok(revision)
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_reuses_revisions_is_found() {
    let report = checked::<ReusesRevisions>().await;

    assert_fails(&report, &["each save returns a new revision"]);
}

/// Checks the base, waits, and then overwrites the stored ledger.
#[derive(Default)]
struct LosesUpdates(MemoryRepository);

#[async_trait]
impl DeliverableRepository for LosesUpdates {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let latest = self.0.load().await?.map(|latest| latest.revision);
        if latest != fence.base {
            // Refuses correctly, including a fenced writer.
            return self.0.save(state, fence).await;
        }
        tokio::task::yield_now().await;
        self.0.save(state, on_top(&self.0, fence).await).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_loses_concurrent_updates_is_found() {
    let report = checked::<LosesUpdates>().await;

    assert_fails(&report, &["changes at the same time are all kept"]);
}

/// Saves the verification progress after the ledger.
#[derive(Default)]
struct SavesInTwoSteps(MemoryRepository, Mutex<VerificationTracker>);

#[async_trait]
impl DeliverableRepository for SavesInTwoSteps {
    async fn load(&self) -> Loaded {
        let Some(mut snapshot) = self.0.load().await? else {
            return Ok(None);
        };
        snapshot.state.verification = self.1.lock().await.clone();
        Ok(Some(snapshot))
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let revision = self.0.save(state, fence).await?;
        tokio::task::yield_now().await;
        *self.1.lock().await = state.verification.clone();
        Ok(revision)
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_saves_in_two_steps_is_found() {
    let report = checked::<SavesInTwoSteps>().await;

    assert_fails(
        &report,
        &["a load during saves sees the old or the new ledger"],
    );
}
