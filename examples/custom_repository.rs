//! A repository that keeps every version of the ledger.
//!
//! It keeps them in memory. A real store is durable: a saved ledger survives a crash. Run it with
//! `cargo run --example custom_repository`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{
    Fence, LedgerState, RepositoryError, RepositoryErrorKind, Revision, Snapshot,
};
use autonoe_core::run::FixedInstructions;
use autonoe_core::{DeliverableRepository, RunControl, SessionRunner, async_trait};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

/// All versions of the ledger, oldest first.
#[derive(Default)]
struct History(Mutex<Vec<Snapshot>>);

impl History {
    fn versions(&self) -> MutexGuard<'_, Vec<Snapshot>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DeliverableRepository for History {
    async fn load(&self) -> Result<Option<Snapshot>, RepositoryError> {
        Ok(self.versions().last().cloned())
    }

    async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError> {
        // The lock is held from the checks to the write, so that no other save can interleave.
        let mut versions = self.versions();
        let latest = versions.last();
        if latest.is_some_and(|latest| fence.epoch < latest.epoch) {
            let message = "another run has taken over the history";
            return Err(RepositoryError::new(RepositoryErrorKind::Fenced, message));
        }
        if latest.map(|latest| &latest.revision) != fence.base.as_ref() {
            let message = "the history has changed since it was read";
            return Err(RepositoryError::new(RepositoryErrorKind::Conflict, message));
        }
        let revision = Revision::new(versions.len().to_string());
        versions.push(Snapshot {
            state: state.clone(),
            revision: revision.clone(),
            epoch: fence.epoch,
        });
        Ok(revision)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
    ]});
    let plans = SessionScript::new("plans").uses_tool("mcp__autonoe__create", plan);
    let texts = [(InstructionName::Initializer, "Plan what SPEC.md asks for.")];
    let history = Arc::new(History::default());
    let runner = SessionRunner::builder(std::env::current_dir()?)
        .agents(ScriptedBackend::new([plans.ends()]))
        .repository(history.clone())
        .instructions(FixedInstructions::new(texts))
        .max_iterations(1)
        .build()?;
    println!("{}", runner.run(&RunControl::new()).await);

    for Snapshot {
        revision, state, ..
    } in history.versions().iter()
    {
        println!("{revision:?}: {} deliverables", state.ledger.counts().total);
    }
    Ok(())
}
