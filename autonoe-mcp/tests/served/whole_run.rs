//! Tests of a whole run on a backend that cannot host tools.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, SessionControl, SessionOutcome, Support,
};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::tool::{ServerReach, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, DeliverableRepository,
    ExitReason, MessageStream, RunControl, SessionRunner, SessionSpec, StreamEvent,
};
use autonoe_mcp::HttpToolServer;
use futures::{StreamExt, stream};
use serde_json::json;

use crate::agent::Agent;
use crate::fixture::soon;

/// A backend whose agents reach our tools only through the described MCP server.
struct Outside {
    reach: ServerReach,
    visits: Visits,
}

/// Whether agents connect to the tool server at all.
#[derive(Clone, Copy, PartialEq)]
enum Visits {
    Some,
    None,
}

impl Outside {
    fn reaching(reach: ServerReach) -> Self {
        let visits = Visits::Some;
        Self { reach, visits }
    }
}

#[async_trait]
impl AgentClientFactory for Outside {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("outside")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            .with_mcp_servers(Support::Yes)
            .with_tool_server(self.reach)
            .with_in_process_tools(Support::No))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Ok(Box::new(Session(spec, self.visits)))
    }
}

struct Session(SessionSpec, Visits);

#[async_trait]
impl AgentClient for Session {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let server = self.0.mcp_servers[Toolbox::SERVER].clone();
        let end = StreamEvent::end(SessionOutcome::Completed, Some(CostUsd::ZERO));
        if self.1 == Visits::None {
            return stream::iter([Ok(StreamEvent::text("All is planned.")), Ok(end)]).boxed();
        }
        let work = stream::once(async move {
            let agent = Agent::connect(&server).await.expect("it lets us in");
            let names: Vec<_> = agent.list().await.expect("the tools are listed");
            let plan = json!({"deliverables": [
                {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
            ]});
            let answer = if names.iter().any(|tool| tool.name == "create") {
                agent.text("create", plan).await
            } else {
                let passed = json!({"deliverableId": "DL-001", "status": "passed"});
                agent.text("set_status", passed).await
            };
            Ok(StreamEvent::text(answer))
        });
        work.chain(stream::iter([Ok(end)])).boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

fn runner(
    agents: Outside,
    server: HttpToolServer,
    repository: &Arc<MemoryRepository>,
) -> SessionRunner {
    let texts = InstructionName::BUILT_IN.map(|name| {
        let text = format!("Do the {name} work.");
        (name, text)
    });
    SessionRunner::builder(Path::new("/srv/project"))
        .agents(Arc::new(agents))
        .repository(repository.clone())
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .bash_security(|_: &str| Verdict::Allow)
        .tool_server(Arc::new(server))
        .max_retries(0)
        .build()
        .expect("parts fit")
}

// Shows: interfaces/tools/create-deliverable-mcp-server
#[tokio::test]
async fn a_run_with_agents_that_cannot_host_tools_updates_its_ledger() {
    use ServerReach::{Address, Command};
    let (plain, program) = (HttpToolServer::new, "autonoe");
    for (reach, server) in [
        (Address, plain()),
        (Address, plain().by_command(program)),
        (Address, plain().or_by_command(program)),
        (Command, plain().by_command(program)),
        (Command, plain().or_by_command(program)),
    ] {
        let repository = Arc::new(MemoryRepository::new());
        let runner = runner(Outside::reaching(reach), server, &repository);

        let report = soon(runner.run(&RunControl::new())).await;

        assert_eq!(report.exit, ExitReason::AllPassed);
        let saved = repository.load().await.expect("memory does not fail");
        let ledger = saved.expect("something was saved").state.ledger;
        assert_eq!(ledger.counts().passed, 1);
    }
}

#[tokio::test]
async fn unreached_tools_fail_the_run_with_reason() {
    let absent = Outside {
        reach: ServerReach::Address,
        visits: Visits::None,
    };
    for (agents, expected) in [
        (
            Outside::reaching(ServerReach::Command),
            "only start MCP servers by a command",
        ),
        (absent, "never connected to the server"),
    ] {
        let repository = Arc::new(MemoryRepository::new());
        let runner = runner(agents, HttpToolServer::new(), &repository);

        let report = soon(runner.run(&RunControl::new())).await;

        let (ExitReason::Failed { error } | ExitReason::MaxRetriesExceeded { error }) =
            &report.exit
        else {
            panic!("{report:?}")
        };
        assert_eq!(error.code, "tools_not_reached");
        assert!(error.message.contains(expected), "{error:?}");
    }
}
