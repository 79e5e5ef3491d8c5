//! Agents that do the work of a site, on one host.

use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, Failure, InstructionName,
    Project, ProjectSessionHost, RunId, SessionHost, SessionSpec,
};
use autonoe_temporal::{SessionHosts, SessionsRun};
use autonoe_testkit::{Expectation, ScriptedAgents, SessionScript, ToolUse};
use serde_json::json;

use crate::body::Embodied;
use crate::log::{Entry, Log, What};
use crate::site::{RELEASED, Site, Starts, Work, log_in};
use crate::tool::Build;

/// Finds the projects of a site, and has agents work there who say on which host they are.
#[derive(Clone, Debug)]
pub struct Crew {
    host: String,
    log: Log,
}

impl Crew {
    /// Makes the one of a host.
    pub fn of(site: &Site, host: &str) -> Arc<Self> {
        Self::at(site.path(), host)
    }

    pub(crate) fn at(site: &std::path::Path, host: &str) -> Arc<Self> {
        Arc::new(Self {
            host: host.to_owned(),
            log: log_in(site),
        })
    }

    /// Returns the project of a run, and who works there.
    pub fn of_run(&self, what: &SessionsRun) -> (Project, Arc<dyn AgentClientFactory>) {
        let work: Work = serde_json::from_value(what.work.clone()).expect("work of ours");
        let project = Project::find(&work.folder, None).expect("it is there");
        let crew = self.clone();
        (project, Arc::new(Agents { work, crew }))
    }
}

impl SessionHosts for Crew {
    fn of(&self, _run: &RunId, what: &SessionsRun) -> Result<Arc<dyn SessionHost>, Failure> {
        let (project, agents) = self.of_run(what);
        let build = Arc::new(Build::of(&project));
        let host = ProjectSessionHost::new(project, agents)
            .configure(move |session| session.tool(build.clone()));
        Ok(Arc::new(host))
    }
}

/// The agents of one project.
struct Agents {
    work: Work,
    crew: Crew,
}

impl Agents {
    fn script(&self, spec: &SessionSpec) -> SessionScript {
        let work = &self.work;
        let number = spec.key.number;
        let mut script = SessionScript::new(format!("session {number}"))
            .says("I begin.")
            .costs(CostUsd::from_cents(5))
            .does(self.notes(spec, What::Began))
            .waits(work.pace);
        if work.held == Some(number) {
            script = match work.starts {
                Starts::Tool => script.uses_tool("mcp__autonoe__build", json!({})),
                Starts::Process | Starts::Nothing => script.waits_for_file(RELEASED),
            };
        }
        let does = match spec.instruction == InstructionName::Initializer {
            true => ToolUse::new("mcp__autonoe__create", self.plan()),
            false => {
                let id = work.deliverable(number - 1);
                let passed = json!({"deliverableId": id, "status": "passed"});
                ToolUse::new("mcp__autonoe__set_status", passed)
            }
        };
        // Who was killed after the call has done it already.
        script
            .calls(does.expecting(Expectation::Anything))
            .does(self.notes(spec, What::Ended))
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
        what: What,
    ) -> impl Fn(&std::path::Path) + Send + Sync + use<> {
        let log = self.crew.log.clone();
        let entry = Entry {
            host: self.crew.host.clone(),
            run: spec.key.run.to_string(),
            number: spec.key.number,
            what,
        };
        move |_| log.add(&entry)
    }
}

#[async_trait]
impl AgentClientFactory for Agents {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        ScriptedAgents::new([]).probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let script = self.script(&spec);
        let agents = ScriptedAgents::new([])
            .unverified()
            .for_instruction(spec.instruction.as_str(), [script]);
        match self.work.starts {
            Starts::Process => {
                let client = agents.create(spec.clone())?;
                Ok(Box::new(Embodied::new(client, &spec)))
            }
            Starts::Nothing | Starts::Tool => agents.create(spec),
        }
    }
}
