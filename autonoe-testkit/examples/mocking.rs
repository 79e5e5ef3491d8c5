//! Mocks of every port with mockall; some of them are used in a run.
//!
//! The fakes of `autonoe-testkit` fit most tests better: they are strict about a whole session
//! instead of single calls. If you do want a mock, every port accepts one. Run it with
//! `cargo run -p autonoe-testkit --example mocking`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{
    HookCoverage, NoControl, Prompt, SessionControl, SessionOutcome, Support,
};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::{BashSecurity, PolicyScope, ScopeMismatch, Verdict};
use autonoe_core::gate::{Gate, GateDecision, Grants, ProjectPaths};
use autonoe_core::ledger::{Fence, LedgerState, RepositoryError, Revision, Snapshot};
use autonoe_core::run::{InstructionError, InstructionSource};
use autonoe_core::time::{AgentSessionId, Clock, IdSource, SessionKey};
use autonoe_core::tool::{ServedTools, ToolDefinition, ToolServer, ToolServerError, Toolbox};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, DeliverableRepository, HookDecision,
    MessageStream, Mode, PreToolUseHook, RunControl, RunEvent, RunEventKind, RunObserver,
    SessionRunner, SessionSpec, StreamEvent, Tool, ToolCall, ToolContext, ToolError, ToolOutput,
};
use futures::future::BoxFuture;
use futures::{StreamExt, stream};
use jiff::Timestamp;
use mockall::mock;
use serde_json::{Value, json};

mock! {
    Agents {}
    #[async_trait]
    impl AgentClientFactory for Agents {
        async fn probe(&self) -> Result<Capabilities, AgentError>;
        fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError>;
    }
}

mock! {
    Agent {}
    #[async_trait]
    impl AgentClient for Agent {
        fn query<'a>(&'a mut self, prompt: Prompt) -> MessageStream<'a>;
        fn control(&self) -> Arc<dyn SessionControl>;
        async fn dispose(self: Box<Self>) -> Result<(), AgentError>;
    }
}

mock! {
    Control {}
    #[async_trait]
    impl SessionControl for Control {
        async fn interrupt(&self) -> Result<(), AgentError>;
        async fn steer(&self, text: &str) -> Result<(), AgentError>;
    }
}

mock! {
    Repository {}
    #[async_trait]
    impl DeliverableRepository for Repository {
        async fn load(&self) -> Result<Option<Snapshot>, RepositoryError>;
        async fn save(&self, state: &LedgerState, fence: Fence) -> Result<Revision, RepositoryError>;
    }
}

mock! {
    Instructions {}
    #[async_trait]
    impl InstructionSource for Instructions {
        async fn resolve(&self, name: &InstructionName) -> Result<String, InstructionError>;
    }
}

mock! {
    Hook {}
    #[async_trait]
    impl PreToolUseHook for Hook {
        fn name(&self) -> &str;
        fn matches(&self, call: &ToolCall) -> bool;
        async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision;
    }
}

mock! {
    Bash {}
    impl BashSecurity for Bash {
        fn check(&self, command: &str) -> Verdict;
        fn check_scope(&self, run: &PolicyScope) -> Result<(), ScopeMismatch>;
    }
}

mock! {
    Observer {}
    impl RunObserver for Observer {
        fn on_event<'a>(&self, event: &RunEvent<'a>);
    }
}

mock! {
    Time {}
    impl Clock for Time {
        fn now(&self) -> Timestamp;
        fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
    }
}

mock! {
    Ids {}
    impl IdSource for Ids {
        fn next_u64(&self) -> u64;
    }
}

mock! {
    Hammer {}
    #[async_trait]
    impl Tool for Hammer {
        fn definition(&self) -> &ToolDefinition;
        async fn call(&self, input: Value, context: &ToolContext) -> Result<ToolOutput, ToolError>;
    }
}

mock! {
    Server {}
    #[async_trait]
    impl ToolServer for Server {
        async fn serve(
            &self,
            session: &SessionKey,
            tools: Toolbox,
        ) -> Result<ServedTools, ToolServerError>;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut repository = MockRepository::new();
    repository.expect_load().returning(|| Ok(None));
    // The run takes over the ledger; its agent saves nothing.
    repository
        .expect_save()
        .once()
        .returning(|_, _| Ok(Revision::new("1")));
    let mut instructions = MockInstructions::new();
    instructions
        .expect_resolve()
        .once()
        .returning(|_| Ok("Plan.".to_owned()));
    let mut observer = MockObserver::new();
    observer
        .expect_on_event()
        .withf(|event| matches!(event.kind, RunEventKind::SessionEnded { .. }))
        .once()
        .return_const(());
    observer.expect_on_event().return_const(());

    let runner = SessionRunner::builder("/srv/project")
        .agents(agents())
        .repository(repository)
        .instructions(instructions)
        .observer(observer)
        .max_retries(0)
        .build()?;
    let report = runner.run(&RunControl::new()).await;

    println!("{report}");
    println!("{:?}", ask_a_mocked_hook().await);
    build_other_mocks();
    Ok(())
}

/// Creates one agent that plans nothing and is disposed once.
fn agents() -> MockAgents {
    let mut agents = MockAgents::new();
    agents.expect_probe().once().returning(|| {
        Ok(Capabilities::new("mocks")
            .with_hooks(HookCoverage::EveryTool)
            .with_sandbox(Support::Yes)
            .with_in_process_tools(Support::Yes))
    });
    agents.expect_create().once().returning(|_spec| {
        let mut agent = MockAgent::new();
        agent.expect_control().returning(|| Arc::new(NoControl));
        agent.expect_query().once().returning(|prompt| {
            stream::iter([
                Ok(StreamEvent::started(AgentSessionId::new("mock"), None)),
                Ok(StreamEvent::text(format!("{} No.", prompt.text))),
                Ok(StreamEvent::end(SessionOutcome::Completed, None)),
            ])
            .boxed()
        });
        agent.expect_dispose().once().returning(|| Ok(()));
        Ok(Box::new(agent))
    });
    agents
}

async fn ask_a_mocked_hook() -> GateDecision {
    let mut hook = MockHook::new();
    hook.expect_name().return_const("mocked".to_owned());
    hook.expect_matches().return_const(true);
    hook.expect_check()
        .once()
        .returning(|_, _| HookDecision::block("mocks block everything"));
    let gate = Gate::new(
        ProjectPaths::new("/srv/project"),
        Grants::baseline(Mode::Run),
    )
    .with_hook(hook);

    gate.decide(&ToolCall::new("Read", json!({"file_path": "SPEC.md"})))
        .await
}

/// Shows that a mock of every other port is accepted in place of the port.
fn build_other_mocks() {
    let _: Arc<dyn BashSecurity> = Arc::new(MockBash::new());
    let _: Arc<dyn Clock> = Arc::new(MockTime::new());
    let _: Arc<dyn IdSource> = Arc::new(MockIds::new());
    let _: Arc<dyn SessionControl> = Arc::new(MockControl::new());
    let _: Arc<dyn Tool> = Arc::new(MockHammer::new());
    let _: Arc<dyn ToolServer> = Arc::new(MockServer::new());
}
