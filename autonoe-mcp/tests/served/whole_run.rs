//! A whole run on a backend that cannot host tools.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, CostUsd, DeliverableRepository,
    ExitReason, FixedInstructions, HookCoverage, InstructionName, MemoryRepository, MessageStream,
    NoControl, Prompt, RunControl, SessionControl, SessionOutcome, SessionRunner, SessionSpec,
    StreamEvent, Support, Toolbox, Verdict,
};
use autonoe_mcp::HttpToolServer;
use futures::{StreamExt, stream};
use serde_json::json;

use crate::agent::Agent;
use crate::setting::soon;

/// A backend whose agents reach our tools by what they are told of them, and by nothing else.
struct Outside;

#[async_trait]
impl AgentClientFactory for Outside {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("outside")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_cost(Support::Yes)
            .with_in_process_tools(Support::No))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        Ok(Box::new(Session(spec)))
    }
}

struct Session(SessionSpec);

#[async_trait]
impl AgentClient for Session {
    fn query(&mut self, _: Prompt) -> MessageStream<'_> {
        let server = self.0.mcp_servers[Toolbox::SERVER].clone();
        let work = stream::once(async move {
            let agent = Agent::reach(&server).await.expect("it lets us in");
            let names: Vec<_> = agent.list().await.expect("they are told");
            let plan = json!({"deliverables": [
                {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
            ]});
            let said = match names.iter().any(|tool| tool.name == "create") {
                true => agent.text("create", plan).await,
                false => {
                    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
                    agent.text("set_status", passed).await
                }
            };
            Ok(StreamEvent::text(said))
        });
        let end = StreamEvent::end(SessionOutcome::Completed, Some(CostUsd::ZERO));
        work.chain(stream::iter([Ok(end)])).boxed()
    }

    fn control(&self) -> Arc<dyn SessionControl> {
        Arc::new(NoControl)
    }

    async fn dispose(self: Box<Self>) -> Result<(), AgentError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_run_whose_agents_cannot_host_tools_keeps_its_ledger() {
    for server in [
        HttpToolServer::new(),
        HttpToolServer::new().by_command("autonoe"),
    ] {
        let repository = Arc::new(MemoryRepository::new());
        let texts = InstructionName::BUILT_IN.map(|name| {
            let text = format!("Do the {name} work.");
            (name, text)
        });
        let runner = SessionRunner::builder(Path::new("/srv/project"))
            .agents(Arc::new(Outside))
            .repository(repository.clone())
            .instructions(Arc::new(FixedInstructions::new(texts)))
            .bash_security(Arc::new(|_: &str| Verdict::Allow))
            .tool_server(Arc::new(server))
            .build()
            .expect("parts fit");

        let report = soon(runner.run(&RunControl::new())).await;

        assert_eq!(report.exit, ExitReason::AllPassed);
        let saved = repository.load().await.expect("memory does not fail");
        let ledger = saved.expect("something was saved").state.ledger;
        assert_eq!(ledger.counts().passed, 1);
    }
}
