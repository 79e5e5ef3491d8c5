//! A project whose sessions are played.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{
    CostUsd, Failure, JournalLine, Mode, Project, ProjectSessionHost, RunId, RunLimits, RunSpec,
    SessionHost,
};
use autonoe_temporal::{SessionHosts, SessionsRun};
use autonoe_testkit::{ScriptedAgents, SessionScript, TempProject};
use serde_json::json;

/// Finds the one project that there is, with agents of its own.
pub(crate) struct OneProject {
    project: Project,
    agents: Arc<ScriptedAgents>,
}

impl OneProject {
    pub(crate) fn of(project: &TempProject, agents: &Arc<ScriptedAgents>) -> Arc<Self> {
        Arc::new(Self {
            project: project.project().clone(),
            agents: agents.clone(),
        })
    }
}

impl SessionHosts for OneProject {
    fn of(&self, _run: &RunId, _what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let host = ProjectSessionHost::new(self.project.clone(), self.agents.clone());
        Ok(Arc::new(host))
    }
}

pub(crate) fn agents(scripts: impl IntoIterator<Item = SessionScript>) -> Arc<ScriptedAgents> {
    Arc::new(ScriptedAgents::new(scripts))
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

/// Works for a while and has a deliverable pass.
pub(crate) fn passes(id: &str, after: Duration) -> SessionScript {
    let status = json!({"deliverableId": id, "status": "passed"});
    SessionScript::new(format!("passes {id}"))
        .says("I begin.")
        .waits(after)
        .uses_tool("mcp__autonoe__set_status", status)
        .costs(CostUsd::from_cents(5))
        .ends()
}

/// A run in which nobody waits between sessions.
pub(crate) fn run(name: &str) -> RunSpec {
    let limits = RunLimits {
        pause: Duration::ZERO,
        ..RunLimits::new(Mode::Run)
    };
    let run = SessionsRun::new(json!(null), limits);
    run.named(RunId::new(name)).expect("it is JSON")
}

/// Counts the sessions whose end was recorded.
pub(crate) fn records(project: &TempProject) -> usize {
    let journal = project.journal();
    let lines = journal.entries().iter().map(|entry| &entry.line);
    lines
        .filter(|line| matches!(line, JournalLine::SessionEnded { .. }))
        .count()
}
