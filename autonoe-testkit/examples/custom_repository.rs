//! A ledger kept where the embedder likes: here, one JSON text.
//!
//! The text could as well be a row of a database. The conformance suite says
//! whether the promises of the port are kept. Run it with
//! `cargo run -p autonoe-testkit --example custom_repository`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use autonoe_core::{
    DeliverableRepository, Epoch, Fence, LedgerState, RepositoryError, RepositoryErrorKind,
    Revision, Snapshot,
};
use autonoe_testkit::conformance;
use serde::{Deserialize, Serialize};

/// Keeps the ledger as one JSON text.
#[derive(Default)]
struct JsonRepository {
    text: Mutex<Option<String>>,
}

/// What the text holds.
#[derive(Serialize, Deserialize)]
struct Row {
    // A counter and not a hash of the content: each save must give a new
    // revision, also one that saves what was there before.
    revision: u64,
    epoch: Epoch,
    state: LedgerState,
}

impl JsonRepository {
    fn text(&self) -> MutexGuard<'_, Option<String>> {
        self.text.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DeliverableRepository for JsonRepository {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        let row = parse(self.text().as_deref())?;
        Ok(row.map(|row| Snapshot {
            revision: name(row.revision),
            epoch: row.epoch,
            state: row.state,
        }))
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        // The lock is held from the check to the write: nobody comes between.
        let mut text = self.text();
        let latest = parse(text.as_deref())?;
        if latest
            .as_ref()
            .is_some_and(|latest| fence.epoch < latest.epoch)
        {
            let message = "another run has taken over the row";
            return Err(RepositoryError::new(RepositoryErrorKind::Fenced, message));
        }
        if latest.as_ref().map(|latest| name(latest.revision)) != fence.base {
            let message = "the row has changed since it was read";
            return Err(RepositoryError::new(RepositoryErrorKind::Conflict, message));
        }
        let revision = latest.map_or(1, |latest| latest.revision + 1);
        let row = Row {
            revision,
            epoch: fence.epoch,
            state: state.clone(),
        };
        let written = serde_json::to_string(&row).map_err(|error| {
            let message = "the row cannot be written";
            RepositoryError::new(RepositoryErrorKind::Unavailable, message).because(error)
        })?;
        *text = Some(written);
        Ok(name(revision))
    }
}

fn name(revision: u64) -> Revision {
    Revision::new(revision.to_string())
}

/// Reads the row. A text that is not one is an error and never an empty ledger.
fn parse(text: Option<&str>) -> Result<Option<Row>, RepositoryError> {
    text.map(serde_json::from_str).transpose().map_err(|error| {
        let message = "the row does not hold a ledger";
        RepositoryError::new(RepositoryErrorKind::Corrupt, message).because(error)
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // In a project of your own, these lines are a test.
    let kept = conformance::deliverable_repository(fresh).await;
    let read = conformance::corrupt_repository(broken).await;

    for check in kept.passed().iter().chain(read.passed()) {
        println!("ok: {check}");
    }
    kept.assert();
    read.assert();
}

async fn fresh() -> Arc<dyn DeliverableRepository> {
    Arc::new(JsonRepository::default())
}

async fn broken() -> Arc<dyn DeliverableRepository> {
    let text = Mutex::new(Some("{\"revision\": 1".to_owned()));
    Arc::new(JsonRepository { text })
}
