//! Fixture: a project with scripted sessions.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::{RunSpec, SessionHost};
use autonoe_core::event::Failure;
use autonoe_core::project::ProjectSessionHost;
use autonoe_core::run::{JournalLine, RunLimits};
use autonoe_core::{CostUsd, Mode, Project, RunId};
use autonoe_temporal::{SessionHosts, SessionsRun};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject};
use serde_json::json;

/// Finds the only project, with its agents.
pub(crate) struct OneProject {
    project: Project,
    agents: Arc<ScriptedBackend>,
}

impl OneProject {
    pub(crate) fn new(project: &TempProject, agents: &Arc<ScriptedBackend>) -> Arc<Self> {
        Arc::new(Self {
            project: project.project().clone(),
            agents: agents.clone(),
        })
    }
}

impl SessionHosts for OneProject {
    fn find(&self, _run: &RunId, _sessions: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let host = ProjectSessionHost::new(self.project.clone(), self.agents.clone());
        Ok(Arc::new(host))
    }
}

pub(crate) fn agents(scripts: impl IntoIterator<Item = SessionScript>) -> Arc<ScriptedBackend> {
    Arc::new(ScriptedBackend::new(scripts))
}

/// Plans two deliverables.
pub(crate) fn plans() -> SessionScript {
    let deliverable = |id: &str| json!({"id": id, "description": "A thing", "acceptanceCriteria": ["it is there"]});
    let deliverables = json!({"deliverables": [deliverable("DL-001"), deliverable("DL-002")]});
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", deliverables)
        .costs(CostUsd::from_cents(5))
        .ends()
}

/// Works for a while and marks a deliverable as passed.
pub(crate) fn passes(id: &str, after: Duration) -> SessionScript {
    let status = json!({"deliverableId": id, "status": "passed"});
    SessionScript::new(format!("passes {id}"))
        .says("I begin.")
        .waits(after)
        .uses_tool("mcp__autonoe__set_status", status)
        .costs(CostUsd::from_cents(5))
        .ends()
}

/// A run without pauses between sessions.
pub(crate) fn run(name: &str) -> RunSpec {
    let limits = RunLimits {
        pause: Duration::ZERO,
        ..RunLimits::new(Mode::Run)
    };
    let run = SessionsRun::new(json!(null), limits);
    run.to_spec(RunId::new(name)).expect("it is JSON")
}

/// Counts the sessions with a recorded end.
pub(crate) fn records(project: &TempProject) -> usize {
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter(|line| matches!(line, JournalLine::SessionEnded { .. }))
        .count()
}
