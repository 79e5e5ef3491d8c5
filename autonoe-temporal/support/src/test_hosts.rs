//! [`TestHosts`]: the session hosts of a site, on one host.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::engine::SessionHost;
use autonoe_core::event::{Failure, InstructionName};
use autonoe_core::project::ProjectSessionHost;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, Project, RunId, SessionSpec,
};
use autonoe_temporal::{SessionHosts, SessionsRun};
use autonoe_testkit::{Expectation, ScriptedBackend, SessionScript, ToolUse};
use serde_json::json;

use crate::agent_process::ProcessAgent;
use crate::log::{Entry, Log, SessionEvent};
use crate::site::{RELEASED, Site, Starts, Work, log_in};
use crate::tool::Build;

/// Finds the projects of a site, and runs scripted agents there that log their host.
#[derive(Clone, Debug)]
pub struct TestHosts {
    host: String,
    log: Log,
}

impl TestHosts {
    /// Creates the test_hosts of a host.
    pub fn new(site: &Site, host: &str) -> Arc<Self> {
        Self::at(site.path(), host)
    }

    pub(crate) fn at(site: &std::path::Path, host: &str) -> Arc<Self> {
        Arc::new(Self {
            host: host.to_owned(),
            log: log_in(site),
        })
    }

    /// Returns the project and the agents of a run.
    pub fn project_and_agents(
        &self,
        sessions: &SessionsRun,
    ) -> (Project, Arc<dyn AgentClientFactory>) {
        let work: Work = serde_json::from_value(sessions.work.clone()).expect("work of ours");
        let project = Project::find(&work.folder, None).expect("it is there");
        let test_hosts = self.clone();
        (project, Arc::new(Agents { work, test_hosts }))
    }
}

impl SessionHosts for TestHosts {
    fn find(&self, _run: &RunId, sessions: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let (project, agents) = self.project_and_agents(sessions);
        let build = Arc::new(Build::new(&project));
        let host = ProjectSessionHost::new(project, agents)
            .configure(move |session| session.tool(build.clone()));
        Ok(Arc::new(host))
    }
}

/// The agents of one project.
struct Agents {
    work: Work,
    test_hosts: TestHosts,
}

impl Agents {
    fn script(&self, spec: &SessionSpec) -> SessionScript {
        let work = &self.work;
        let number = spec.key.number;
        let mut script = SessionScript::new(format!("session {number}"))
            .says("I begin.")
            .costs(CostUsd::from_cents(5))
            .performs(self.notes(spec, SessionEvent::Started))
            .waits(work.session_duration);
        if work.held == Some(number) {
            script = match work.starts {
                Starts::Tool => script.uses_tool("mcp__autonoe__build", json!({})),
                Starts::Process | Starts::Nothing => script.waits_for_file(RELEASED),
            };
        }
        let tool_use = if spec.instruction == InstructionName::Initializer {
            ToolUse::new("mcp__autonoe__create", self.plan())
        } else {
            let id = work.deliverable(number - 1);
            let passed = json!({"deliverableId": id, "status": "passed"});
            ToolUse::new("mcp__autonoe__set_status", passed)
        };
        // An agent that was killed after the call has already done it.
        script
            .calls(tool_use.expecting(Expectation::Anything))
            .performs(self.notes(spec, SessionEvent::Ended))
            .ends()
    }

    fn plan(&self) -> serde_json::Value {
        let deliverables = (1..=self.work.deliverables).map(|number| {
            json!({
                "id": self.work.deliverable(number),
                "description": "A thing",
                "acceptanceCriteria": ["it is there"],
            })
        });
        json!({"deliverables": deliverables.collect::<Vec<_>>()})
    }

    fn notes(
        &self,
        spec: &SessionSpec,
        event: SessionEvent,
    ) -> impl Fn(&std::path::Path) + Send + Sync + use<> {
        let log = self.test_hosts.log.clone();
        let entry = Entry {
            host: self.test_hosts.host.clone(),
            run: spec.key.run.to_string(),
            number: spec.key.number,
            event,
        };
        move |_| log.add(&entry)
    }
}

#[async_trait]
impl AgentClientFactory for Agents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        ScriptedBackend::new([]).probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let script = self.script(&spec);
        let agents = ScriptedBackend::new([])
            .unverified()
            .for_instruction(spec.instruction.as_str(), [script]);
        match self.work.starts {
            Starts::Process => {
                let client = agents.create(spec.clone())?;
                Ok(Box::new(ProcessAgent::new(client, &spec)))
            }
            Starts::Nothing | Starts::Tool => agents.create(spec),
        }
    }
}
