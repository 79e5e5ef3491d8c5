//! Required parts of the builder, and the values that it passes to backends.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{
    AgentErrorKind, HookCoverage, Sandbox, Support, ThinkingBudget, TokenReports,
};
use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::{BuildError, FixedInstructions, LimitOverrides, Models, QuotaBackoff};
use autonoe_core::time::{SeededIds, SessionKey};
use autonoe_core::tool::{
    McpServer, ServedTools, ToolDescription, ToolServer, ToolServerError, Toolbox,
};
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Budget, Capabilities, CostUsd, ExitReason,
    HookDecision, RunControl, RunEvent, SessionRunner, SessionSpec, ToolContext, ToolError,
    ToolOutput, TypedTool, hook_fn,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;

use crate::behaviour::support::{Fixture, create, passes, plans, status};

fn server(url: &str) -> McpServer {
    serde_json::from_value(json!({"type": "http", "url": url})).expect("a server")
}

fn program() -> McpServer {
    let server = json!({"command": "serve", "env": {"SET": "by itself"}});
    serde_json::from_value(server).expect("a server")
}

fn text((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

// Shows: interfaces/session-runner/option-project-dir, spec/3.3/injected-through-run
#[test]
fn builder_errors_name_the_problem() {
    let empty = SessionRunner::builder("/srv/project").build();
    let relative = SessionRunner::builder("project").build();
    let texts = || Arc::new(FixedInstructions::default());
    let agentless = SessionRunner::builder("/srv/project")
        .repository(Arc::new(MemoryRepository::new()))
        .instructions(texts())
        .mcp_server("other", server("http://[::1]:1/"))
        .build();
    let agents = || Arc::new(ScriptedBackend::new([]));
    let without_repository = SessionRunner::builder("/srv/project")
        .agents(agents())
        .instructions(texts())
        .build();
    let without_instructions = SessionRunner::builder("/srv/project")
        .agents(agents())
        .repository(MemoryRepository::new())
        .build();
    let reserved_name = SessionRunner::builder("/srv/project")
        .instructions(texts())
        .mcp_server("autonoe", server("http://[::1]:1/"))
        .build();

    let double = SessionRunner::builder("/srv/project")
        .tool(Named("list").into_tool())
        .build();

    let message =
        |result: Result<SessionRunner, BuildError>| result.expect_err("unfit").to_string();
    assert_eq!(
        message(empty),
        "the runner needs its agents; call .agents(..)"
    );
    assert_eq!(
        message(relative),
        "the project directory \"project\" is not an absolute path"
    );
    assert_eq!(
        message(agentless),
        "the runner needs its agents; call .agents(..)"
    );
    assert_eq!(
        message(without_repository),
        "the runner needs its repository; call .repository(..)"
    );
    assert_eq!(
        message(without_instructions),
        "the runner needs its instructions; call .instructions(..)"
    );
    assert_eq!(
        message(reserved_name),
        "the MCP server name \"autonoe\" is taken by the deliverable tools"
    );
    assert_eq!(message(double), "the tool name \"list\" is taken");
}

struct Named(&'static str);

#[async_trait]
impl TypedTool for Named {
    type Input = serde_json::Map<String, serde_json::Value>;
    fn describe(&self) -> ToolDescription {
        ToolDescription::new(self.0, "Does nothing.")
    }
    async fn run(&self, _: Self::Input, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::new("done"))
    }
}

/// Records the spec that it receives, and fails.
#[derive(Default)]
struct Recorder(Mutex<Option<SessionSpec>>);

#[async_trait]
impl AgentClientFactory for Recorder {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        Ok(Capabilities::new("recorder")
            .with_hooks(HookCoverage::EveryTool)
            .with_cost(Support::Yes)
            .with_tokens(TokenReports::EachCall)
            .with_model(Support::Yes)
            .with_system_prompt(Support::Yes)
            .with_thinking(Support::Yes)
            .with_max_turns(Support::Yes)
            .with_mcp_servers(Support::Yes)
            .with_project_memory_off(Support::Yes)
            .with_in_process_tools(Support::Yes))
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        *self.0.lock().expect("not poisoned") = Some(spec);
        Err(AgentError::new(
            AgentErrorKind::NotAvailable,
            "it only records",
        ))
    }
}

// Shows: interfaces/agent-client/options-cwd, interfaces/agent-client/options-mcp-servers
// Shows: interfaces/agent-client/options-max-thinking-tokens
// Shows: interfaces/session-runner/option-max-thinking-tokens, interfaces/agent-client/create
#[tokio::test(start_paused = true)]
async fn session_spec_contains_builder_settings() {
    let recorder = Arc::new(Recorder::default());
    let fixture = Fixture::new([]);
    let budget = Budget::default()
        .with_cost(CostUsd::from_cents(500))
        .with_tokens(1000);

    let runner = fixture
        .runner()
        .agents(recorder.clone())
        .models(Models::all("large"))
        .thinking(ThinkingBudget::default())
        .system_prompt("Be brief.")
        .project_memory(false)
        .mcp_server("browser", server("http://[::1]:1/"))
        .mcp_server("program", program())
        .mcp_server_environment("program", [("A", "b"), ("SET", "otherwise")].map(text))
        .mcp_server_environment("browser", [("A", "b")].map(text))
        .mcp_server_environment("nobody", [("A", "b")].map(text))
        .sandbox(Sandbox::Off)
        .environment("LANG", "C")
        .max_turns(40)
        .budget(budget);
    let report = fixture.run(runner).await;

    assert_eq!(report.exit.code(), "failed");
    let spec = recorder
        .0
        .lock()
        .expect("not poisoned")
        .take()
        .expect("it was asked");
    assert_eq!(
        spec.key,
        SessionKey {
            run: report.run,
            number: 1
        }
    );
    assert_eq!(spec.cwd, PathBuf::from("/srv/project"));
    assert_eq!(spec.instruction.as_str(), "initializer");
    assert_eq!(spec.model.as_deref(), Some("large"));
    assert_eq!(spec.thinking.map(ThinkingBudget::tokens), Some(8192));
    assert_eq!(spec.system_prompt.as_deref(), Some("Be brief."));
    assert!(!spec.project_memory);
    let servers = serde_json::to_value(&spec.mcp_servers).expect("JSON");
    let expected = json!({
        "browser": {"type": "http", "url": "http://[::1]:1/"},
        "program": {"command": "serve", "env": {"A": "b", "SET": "by itself"}},
    });
    assert_eq!(servers, expected);
    assert_eq!(spec.sandbox, Sandbox::Off);
    assert_eq!(spec.environment["LANG"], "C");
    assert_eq!(spec.max_turns, Some(40));
    assert_eq!(spec.budget, budget);
    assert!(
        spec.span.parent.is_some(),
        "a session is a child of its run"
    );
    assert!(
        !format!("{spec:?}").contains("[::1]"),
        "addresses may be secret"
    );
}

// Shows: interfaces/agent-client/options-max-thinking-tokens
#[test]
fn a_thinking_budget_below_the_least_is_refused() {
    assert!(ThinkingBudget::new(1023).is_err());
    assert!(ThinkingBudget::new(1024).is_ok());
    assert!(serde_json::from_str::<ThinkingBudget>("12").is_err());
}

// Shows: interfaces/hooks/built-bash-security-hook, spec/6.1/layer-3-hooks, spec/3.3/bash-security
#[tokio::test(start_paused = true)]
async fn an_approving_hook_cannot_override_built_in_guards() {
    let fixture = Fixture::new([
        plans(&["A"]),
        SessionScript::new("tries all that the guards forbid")
            .is_denied_by(
                "autonoe-protection",
                "Write",
                json!({"file_path": ".autonoe/status.json", "content": ""}),
            )
            .is_denied_by(
                "file-scope",
                "Write",
                json!({"file_path": "/etc/passwd", "content": ""}),
            )
            .is_denied_by(
                "file-scope",
                "Read",
                json!({"file_path": "/home/user/.ssh/id_ed25519"}),
            )
            .is_denied_by("bash-security", "Bash", json!({"command": "ls"}))
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .ends(),
    ]);
    let yes = hook_fn("yes to all", |_, _| HookDecision::Approve);
    let runner = fixture
        .runner()
        .bash_security(autonoe_core::gate::policy::DenyAll)
        .home("/home/user")
        .hook(yes)
        .grant("Bash(*)".parse().expect("a rule"))
        .grant("Write(/**)".parse().expect("a rule"));

    let report = fixture.run(runner).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
}

/// Stores the tools that it serves, and returns their address.
#[derive(Default)]
struct StoringToolServer(Mutex<Vec<Toolbox>>);

#[async_trait]
impl ToolServer for StoringToolServer {
    async fn serve(&self, _: &SessionKey, tools: Toolbox) -> Result<ServedTools, ToolServerError> {
        self.0.lock().expect("not poisoned").push(tools);
        Ok(ServedTools::new(server("http://[::1]:7/"), ()))
    }
}

// Shows: interfaces/tools/create-deliverable-mcp-server, interfaces/agent-client/sdk-servers
// Shows: spec/3.3/deliverable-tools
#[tokio::test(start_paused = true)]
async fn a_backend_without_in_process_tools_is_served() {
    let agents = ScriptedBackend::new([plans(&["A"]), passes("A")]);
    let unable = agents
        .capabilities()
        .clone()
        .with_in_process_tools(Support::No);
    let fixture = Fixture::with(agents.with_capabilities(unable));
    let tool_server = Arc::new(StoringToolServer::default());

    let report = fixture
        .run(fixture.runner().tool_server(tool_server.clone()))
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    let served = tool_server.0.lock().expect("not poisoned").clone();
    let names: Vec<Vec<_>> = served
        .iter()
        .map(|tools| tools.definitions().map(|tool| tool.name.clone()).collect())
        .collect();
    assert_eq!(names, [vec!["create"], vec!["set_status", "list"]]);
    let session = SessionKey {
        run: report.run,
        number: 9,
    };
    let late = served[0]
        .call("create", create(&["B"]), ToolContext::new(session))
        .await;
    assert!(late.is_err(), "a served toolbox closes with its session");
}

#[test]
fn an_unusable_value_is_refused_with_the_name_of_its_setter() {
    let zero = Duration::ZERO;
    let blank = Models {
        planning: Some(" ".into()),
        implementation: Some("opus".into()),
    };
    let no_wait = QuotaBackoff {
        first: zero,
        ..QuotaBackoff::default()
    };
    let overrides = LimitOverrides {
        max_iterations: Some(0),
        ..LimitOverrides::default()
    };
    let server: McpServer = serde_json::from_value(json!({"command": "node"})).expect("a server");
    let builder = || SessionRunner::builder("/srv/project");
    for (call, built) in [
        (".max_iterations(0)", builder().max_iterations(0)),
        (".max_iterations(0)", builder().limits(&overrides)),
        (".max_turns(0)", builder().max_turns(0)),
        (
            ".budget(..)",
            builder().budget(Budget::default().with_cost(CostUsd::ZERO)),
        ),
        (
            ".budget(..)",
            builder().budget(Budget::default().with_tokens(0)),
        ),
        (
            ".budget(..)",
            builder().budget(Budget::default().with_time(zero)),
        ),
        (".models(..)", builder().models(Models::all(""))),
        (".models(..)", builder().models(blank)),
        (".quota_backoff(..)", builder().quota_backoff(no_wait)),
        (".hook_time_limit(0)", builder().hook_time_limit(zero)),
        (".idle_limit(0)", builder().idle_limit(zero)),
        (".dispose_limit(0)", builder().dispose_limit(zero)),
        (".environment(..)", builder().environment("", "1")),
        (".mcp_server(..)", builder().mcp_server(" ", server)),
    ] {
        let error = built.build().expect_err(call);
        assert!(
            matches!(error, BuildError::InvalidValue(_)),
            "{call}: {error}"
        );
        assert!(
            error.to_string().starts_with(&format!("{call}: ")),
            "{error}"
        );
    }
    assert!(builder().max_turns(0).build_gate().is_err());
    assert!(builder().max_turns(0).build_sessions().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_run_takes_values_and_shared_values_alike() {
    let agents = Arc::new(ScriptedBackend::new([plans(&["A"]), passes("A")]));
    let events = Arc::new(Mutex::new(0));
    let counted = events.clone();
    let runner = SessionRunner::builder("/srv/project")
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new(
            InstructionName::BUILT_IN.map(|name| (name, "Work.")),
        ))
        .bash_security(|_: &str| Verdict::Allow)
        .clock(VirtualClock::new())
        .ids(SeededIds::new(7))
        .hook(hook_fn("nothing", |_, _| HookDecision::Pass))
        .tool(Named("extra").into_tool())
        .observer(move |_: &RunEvent<'_>| *counted.lock().expect("not poisoned") += 1)
        .build()
        .expect("parts fit");

    let report = runner.run(&RunControl::new()).await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    assert!(*events.lock().expect("not poisoned") > 0);
    agents.verify();
}
