//! Repositories that lose part of the saved data.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::DeliverableRepository;
use autonoe_core::ledger::{
    Fence, LedgerState, MemoryRepository, RepositoryError, Revision, Snapshot, VerificationTracker,
};
use autonoe_testkit::conformance::{Conformance, deliverable_repository};
use serde_json::Value;

use crate::conformance::assert_fails;

type Loaded = Result<Option<Snapshot>, RepositoryError>;
type Saved = Result<Revision, RepositoryError>;

async fn checked<R: DeliverableRepository + Default + 'static>() -> Conformance {
    deliverable_repository(async || Arc::new(R::default()) as Arc<_>).await
}

/// Keeps only the fields it knows.
#[derive(Default)]
struct LosesUnknownFields(MemoryRepository);

#[async_trait]
impl DeliverableRepository for LosesUnknownFields {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        const KNOWN: [&str; 9] = [
            "createdAt",
            "updatedAt",
            "deliverables",
            "id",
            "description",
            "acceptanceCriteria",
            "passed",
            "blocked",
            "deprecatedAt",
        ];
        let mut ledger = serde_json::to_value(&state.ledger).expect("it serialises");
        let prune = |record: &mut Value| {
            record
                .as_object_mut()
                .expect("a record")
                .retain(|key, _| KNOWN.contains(&key.as_str()));
        };
        prune(&mut ledger);
        ledger["deliverables"]
            .as_array_mut()
            .expect("a list")
            .iter_mut()
            .for_each(prune);
        let ledger = serde_json::from_value(ledger).expect("it parses");
        let pruned = LedgerState {
            ledger,
            verification: state.verification.clone(),
        };
        self.0.save(&pruned, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_loses_unknown_fields_is_found() {
    let report = checked::<LosesUnknownFields>().await;

    assert_fails(
        &report,
        &["fields that this version does not know are kept"],
    );
}

/// Saves the deliverables only.
#[derive(Default)]
struct LosesVerification(MemoryRepository);

#[async_trait]
impl DeliverableRepository for LosesVerification {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let verification = VerificationTracker::default();
        let state = LedgerState {
            ledger: state.ledger.clone(),
            verification,
        };
        self.0.save(&state, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_loses_verification_is_found() {
    assert_fails(
        &checked::<LosesVerification>().await,
        &[
            "verification progress is kept",
            "a load during saves sees the old or the new ledger",
        ],
    );
}

/// Trims the whitespace of texts.
#[derive(Default)]
struct TrimsTexts(MemoryRepository);

#[async_trait]
impl DeliverableRepository for TrimsTexts {
    async fn load(&self) -> Loaded {
        self.0.load().await
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Saved {
        let mut tidy = serde_json::to_value(state).expect("it serialises");
        for deliverable in tidy["ledger"]["deliverables"]
            .as_array_mut()
            .expect("a list")
        {
            for criterion in deliverable["acceptanceCriteria"]
                .as_array_mut()
                .expect("a list")
            {
                *criterion = criterion.as_str().expect("a text").trim().into();
            }
        }
        let tidy = serde_json::from_value(tidy).expect("it parses");
        self.0.save(&tidy, fence).await
    }
}

#[tokio::test(start_paused = true)]
async fn a_repository_that_trims_texts_is_found() {
    let report = checked::<TrimsTexts>().await;

    assert_fails(&report, &["deliverables are loaded as they were saved"]);
}
