//! Applying a configuration to a run.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::agent::{CredentialFilter, Sandbox};
use autonoe_core::gate::ProjectPaths;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::project::{BuiltInInstructions, EffectiveConfig, SandboxSwitch};
use autonoe_core::spec::SpecContext;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, Mode, RunControl, SessionRunner,
    SessionSpec,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;

use crate::config::support::{merged, parse, rules};

const PROJECT: &str = "/srv/project";

fn context() -> SpecContext {
    SpecContext::new(ProjectPaths::new(PROJECT))
}

/// The settings that a session started with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Started {
    mode: Mode,
    sandbox: Sandbox,
    project_memory: bool,
    servers: Vec<String>,
    rules: Vec<String>,
    credential_filter: CredentialFilter,
}

/// Scripted agents that record the settings of their sessions.
struct Recording {
    agents: ScriptedBackend,
    started: Mutex<Vec<Started>>,
}

#[async_trait]
impl AgentClientFactory for Recording {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        self.started.lock().expect("no panic").push(Started {
            mode: spec.mode,
            sandbox: spec.sandbox,
            project_memory: spec.project_memory,
            servers: spec.mcp_servers.keys().cloned().collect(),
            rules: spec
                .gate
                .grants()
                .rules()
                .map(ToString::to_string)
                .collect(),
            credential_filter: spec.credential_filter.clone(),
        });
        self.agents.create(spec)
    }
}

async fn run(config: EffectiveConfig, script: SessionScript) -> Started {
    let agents = Arc::new(Recording {
        agents: ScriptedBackend::new([script]),
        started: Mutex::new(Vec::new()),
    });
    let builder = SessionRunner::builder(PROJECT)
        .agents(agents.clone())
        .repository(Arc::new(MemoryRepository::new()))
        .instructions(Arc::new(BuiltInInstructions))
        .clock(Arc::new(VirtualClock::new()))
        .max_iterations(1);
    let runner = config
        .apply(builder, &context())
        .expect("the hooks can be built")
        .build()
        .expect("parts fit");

    runner.run(&RunControl::new()).await;

    agents.agents.verify();
    agents.started.lock().expect("no panic")[0].clone()
}

// Shows: framework/models/app-config
#[tokio::test(start_paused = true)]
async fn the_spec_of_a_session_has_the_settings_of_the_file() {
    let text = r#"{
        "permissions": {"allow": ["WebFetch(*)", "Write(./.autonoe/**)"]},
        "allowedTools": ["Task"],
        "mcpServers": {"docs": {"command": "docs-server"}},
        "hooks": [{
            "type": "core-deny-tool",
            "rule": "WebFetch(domain:evil.com)",
            "reason": "use the mirror"
        }]
    }"#;
    let switch = SandboxSwitch::resolve(None, Some(Sandbox::Off));
    let config = EffectiveConfig::merge(Some(parse(text).expect("valid")), Mode::Run, switch)
        .expect("valid");
    let expected = rules(&config);
    let script = SessionScript::new("tries what is open and what is not")
        .uses_tool("WebFetch", json!({"url": "https://docs.rs"}))
        .is_denied_by(
            "deny WebFetch(domain:evil.com)",
            "WebFetch",
            json!({"url": "https://evil.com"}),
        )
        .uses_tool("Task", json!({}))
        .is_denied_by("grants", "WebSearch", json!({"query": "x"}))
        .is_denied_by(
            "autonoe-protection",
            "Write",
            json!({"file_path": ".autonoe/agent.json", "content": "{}"}),
        )
        .ends();

    let started = run(config, script).await;

    assert_eq!((started.mode, started.sandbox), (Mode::Run, Sandbox::Off));
    assert_eq!(started.servers, ["docs", "playwright"]);
    for rule in expected {
        assert!(started.rules.contains(&rule), "{rule}");
    }
}

#[tokio::test(start_paused = true)]
async fn variables_that_the_file_allows_reach_the_session() {
    let text = r#"{"environment": {"allow": ["NPM_TOKEN", "AWS_*"]}}"#;
    for (config, expected) in [
        (merged("{}", Mode::Run), CredentialFilter::default()),
        (
            merged(text, Mode::Run),
            CredentialFilter::default()
                .allow("NPM_TOKEN")
                .allow("AWS_*"),
        ),
    ] {
        let started = run(config, SessionScript::new("does nothing").ends()).await;

        assert_eq!(started.credential_filter, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_sync_stays_a_sync() {
    let config = merged(r#"{"allowedTools": ["Write", "Edit"]}"#, Mode::Sync);
    let script = SessionScript::new("writes only the note")
        .uses_tool(
            "Write",
            json!({"file_path": ".autonoe-note.md", "content": "x"}),
        )
        .is_denied_by(
            "autonoe-protection",
            "Write",
            json!({"file_path": "src/main.rs", "content": "x"}),
        )
        .ends();

    let started = run(config, script).await;

    assert_eq!(
        (started.mode, started.sandbox),
        (Mode::Sync, Sandbox::Required)
    );
    assert!(started.servers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn sessions_get_project_memory_unless_the_file_turns_it_off() {
    for (text, expected) in [
        ("{}", true),
        (r#"{"projectMemory": true}"#, true),
        (r#"{"projectMemory": false}"#, false),
    ] {
        for mode in [Mode::Run, Mode::Sync] {
            let script = SessionScript::new("ends").ends();

            let started = run(merged(text, mode), script).await;

            assert_eq!(started.project_memory, expected, "{text} in {mode:?}");
        }
    }
}

#[test]
fn a_hook_that_cannot_be_built_is_an_error_with_its_place() {
    let text = r#"{
  "hooks": [
    {"type": "core-deny-tool", "rule": "Read(~/notes/**)", "reason": " "}
  ]
}"#;
    let config = merged(text, Mode::Run);

    let built = config.apply(SessionRunner::builder(PROJECT), &context());

    insta::assert_snapshot!(
        built.expect_err("the reason is blank"),
        @".autonoe/agent.json:3:5: /hooks/0: core-deny-tool cannot be used: its reason is blank; fix the hook or remove it"
    );
}
