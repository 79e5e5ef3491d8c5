//! Optional MCP servers.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::agent::{AgentErrorKind, Support};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::project::BuiltInInstructions;
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::tool::McpServer;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, RunControl, RunEvent, RunEventKind,
    SessionRunner, SessionSpec,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;

/// Agents whose servers all fail, with the decision that each session got about them.
struct WithoutServers {
    agents: ScriptedBackend,
    decisions: Mutex<Vec<Vec<(String, bool)>>>,
}

#[async_trait]
impl AgentClientFactory for WithoutServers {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let error = AgentError::new(AgentErrorKind::Other, "there is no network");
        let names = spec.mcp_servers.keys();
        let decisions = names.map(|name| (name.clone(), spec.may_start_without(name, &error)));
        self.decisions
            .lock()
            .expect("no panic")
            .push(decisions.collect());
        self.agents.create(spec)
    }
}

fn server() -> McpServer {
    serde_json::from_value(json!({"command": "x"})).expect("a server")
}

#[tokio::test(start_paused = true)]
async fn an_optional_server_that_fails_is_left_out_with_one_warning() {
    let agents = Arc::new(WithoutServers {
        agents: ScriptedBackend::new(
            ["one", "two", "three"].map(|name| SessionScript::new(name).says("Not yet.").ends()),
        ),
        decisions: Mutex::default(),
    });
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let seen = warnings.clone();
    let runner = SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(BuiltInInstructions)
        .clock(VirtualClock::new())
        .max_iterations(3)
        .mcp_server("docs", server())
        .optional_mcp_server("browser", server())
        .optional_mcp_server("missing", server())
        .without_mcp_server("missing")
        .observer(move |event: &RunEvent<'_>| {
            if let RunEventKind::Warning { message } = event.kind {
                seen.lock().expect("no panic").push(message.to_owned());
            }
        })
        .build()
        .expect("parts fit");

    runner.run(&RunControl::new()).await;

    let decisions = |servers: &[(&str, bool)]| -> Vec<(String, bool)> {
        let servers = servers.iter();
        servers
            .map(|(name, may)| ((*name).to_owned(), *may))
            .collect()
    };
    assert_eq!(
        *agents.decisions.lock().expect("no panic"),
        [
            decisions(&[("browser", true), ("docs", false)]),
            decisions(&[("docs", false)]),
            decisions(&[("docs", false)]),
        ]
    );
    assert_eq!(
        *warnings.lock().expect("no panic"),
        ["sessions start without the MCP server \"browser\": there is no network"]
    );
}

/// Makes `runs` runs of one session each. Returns the servers of each session, with whether it
/// could start without them, and the warnings.
async fn servers_of_a_session(
    builder: SessionRunnerBuilder,
    servers: Support,
    runs: usize,
) -> (Vec<Vec<(String, bool)>>, Vec<String>) {
    // Scripts are for one run: the sessions of a second run fail after they received their servers.
    let script = SessionScript::new("works").says("Not yet.").ends();
    let agents = ScriptedBackend::new([script]).unverified();
    let capabilities = agents.capabilities().clone().with_mcp_servers(servers);
    let agents = Arc::new(WithoutServers {
        agents: agents.with_capabilities(capabilities),
        decisions: Mutex::default(),
    });
    let warnings = Arc::new(Mutex::new(Vec::new()));
    let seen = warnings.clone();
    let runner = builder
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(BuiltInInstructions)
        .clock(VirtualClock::new())
        .max_iterations(1)
        .observer(move |event: &RunEvent<'_>| {
            if let RunEventKind::Warning { message } = event.kind {
                seen.lock().expect("no panic").push(message.to_owned());
            }
        })
        .build()
        .expect("parts fit");
    for _ in 0..runs {
        runner.run(&RunControl::new()).await;
    }
    let decisions = agents.decisions.lock().expect("no panic").clone();
    let warnings = warnings.lock().expect("no panic").clone();
    (decisions, warnings)
}

#[tokio::test(start_paused = true)]
async fn a_server_that_replaces_an_optional_one_is_needed() {
    let builder = SessionRunner::builder("/srv/project")
        .optional_mcp_server("browser", server())
        .mcp_server("browser", server());

    let (decisions, warnings) = servers_of_a_session(builder, Support::Yes, 1).await;

    assert_eq!(decisions, [[("browser".to_owned(), false)]]);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn each_run_of_a_runner_tries_an_optional_server() {
    let builder = SessionRunner::builder("/srv/project").optional_mcp_server("browser", server());

    let (decisions, warnings) = servers_of_a_session(builder, Support::Yes, 2).await;

    assert_eq!(
        decisions,
        [
            [("browser".to_owned(), true)],
            [("browser".to_owned(), true)]
        ]
    );
    assert_eq!(warnings.len(), 2, "{warnings:?}");
}

#[tokio::test(start_paused = true)]
async fn a_backend_without_mcp_servers_runs_without_an_optional_one() {
    let builder = SessionRunner::builder("/srv/project").optional_mcp_server("browser", server());

    let (decisions, warnings) = servers_of_a_session(builder, Support::No, 1).await;

    assert_eq!(decisions, [Vec::new()]);
    let warning = "sessions start without the MCP server \"browser\": scripted agents does not \
                   support MCP servers";
    assert_eq!(warnings, [warning]);
}
