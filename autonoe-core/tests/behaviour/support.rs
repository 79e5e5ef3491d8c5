//! [`Fixture`], the fixture of behaviour tests.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::ledger::{Ledger, LedgerState, MemoryRepository};
use autonoe_core::run::{FixedInstructions, SessionRunnerBuilder};
use autonoe_core::time::SeededIds;
use autonoe_core::{
    DeliverableRepository, DeliverableStatus, RunControl, RunReport, SessionRunner,
};
use autonoe_testkit::{EventLog, ScriptedBackend, SessionScript, VirtualClock};
use serde_json::{Value, json};

pub(crate) const PROJECT: &str = "/srv/project";

/// A run with a scripted agent, whose parts can be inspected afterwards.
pub(crate) struct Fixture {
    pub(crate) agents: Arc<ScriptedBackend>,
    pub(crate) repository: Arc<MemoryRepository>,
    pub(crate) log: Arc<EventLog>,
}

impl Fixture {
    pub(crate) fn new(scripts: impl IntoIterator<Item = SessionScript>) -> Self {
        Self::with(ScriptedBackend::new(scripts))
    }

    pub(crate) fn with(agents: ScriptedBackend) -> Self {
        Self {
            agents: Arc::new(agents),
            repository: Arc::new(MemoryRepository::new()),
            log: Arc::new(EventLog::new()),
        }
    }

    /// Returns a builder with everything that a run needs, in virtual time.
    pub(crate) fn runner(&self) -> SessionRunnerBuilder {
        let texts = InstructionName::BUILT_IN.map(|name| {
            let text = format!("Do the {name} work.");
            (name, text)
        });
        SessionRunner::builder(PROJECT)
            .agents(self.agents.clone())
            .repository(self.repository.clone())
            .instructions(Arc::new(FixedInstructions::new(texts)))
            .bash_security(|_: &str| Verdict::Allow)
            .observer(self.log.clone())
            .clock(Arc::new(VirtualClock::new()))
            .ids(Arc::new(SeededIds::new(7)))
    }

    pub(crate) async fn run(&self, runner: SessionRunnerBuilder) -> RunReport {
        let report = runner
            .build()
            .expect("parts fit")
            .run(&RunControl::new())
            .await;
        assert_eq!(
            self.agents.open_clients(),
            0,
            "a client was neither disposed of nor dropped"
        );
        report
    }

    pub(crate) async fn ledger(&self) -> Ledger {
        self.state().await.ledger
    }

    pub(crate) async fn state(&self) -> LedgerState {
        let snapshot = self.repository.load().await.expect("memory does not fail");
        snapshot.expect("something was saved").state
    }

    pub(crate) async fn statuses(&self) -> Vec<(String, DeliverableStatus)> {
        self.ledger()
            .await
            .deliverables()
            .iter()
            .map(|deliverable| (deliverable.id().to_string(), deliverable.status()))
            .collect()
    }
}

pub(crate) fn create(ids: &[&str]) -> Value {
    let deliverables: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]}))
        .collect();
    json!({ "deliverables": deliverables })
}

pub(crate) fn status(id: &str, status: &str) -> Value {
    json!({"deliverableId": id, "status": status})
}

/// A session that plans deliverables with these IDs.
pub(crate) fn plans(ids: &[&str]) -> SessionScript {
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", create(ids))
        .ends()
}

/// A session that marks one deliverable as passed.
pub(crate) fn passes(id: &str) -> SessionScript {
    SessionScript::new(format!("passes {id}"))
        .uses_tool("mcp__autonoe__set_status", status(id, "passed"))
        .ends()
}

/// A session that emits a text and changes nothing.
pub(crate) fn idles() -> SessionScript {
    SessionScript::new("idles").says("I looked around.").ends()
}
