//! No configuration disables a guard: checked at the gate of a session.

use std::path::Path;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autonoe_core::gate::{GateDecision, Grants, ProjectPaths};
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::project::{AgentConfig, BuiltInInstructions, EffectiveConfig, SandboxSwitch};
use autonoe_core::spec::SpecContext;
use autonoe_core::{
    AgentClient, AgentClientFactory, AgentError, Capabilities, Mode, RunControl, SessionRunner,
    SessionSpec, ToolCall,
};
use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::config::hostile_config::{any_mode, disturbed, valid};
use crate::config::support::FILE;

const PROJECT: &str = "/srv/project";

/// Returns the calls that each guard blocks, whatever is granted.
fn closed() -> [(&'static str, &'static str, Value); 6] {
    let write = |path: &str| json!({"file_path": path, "content": "x"});
    [
        (
            "bash-security",
            "Bash",
            json!({"command": "eval ls; rm -rf /"}),
        ),
        ("file-scope", "Write", write("/etc/passwd")),
        (
            "file-scope",
            "Read",
            json!({"file_path": "/proc/self/environ"}),
        ),
        ("autonoe-protection", "Write", write(".autonoe/agent.json")),
        (
            "autonoe-protection",
            "Edit",
            json!({"file_path": ".autonoe/status.json", "old_string": "a", "new_string": "b"}),
        ),
        (
            "autonoe-protection",
            "Write",
            write("/srv/project/.autonoe/run.lock"),
        ),
    ]
}

/// Scripted agents that record the grants of their session.
struct Recording {
    agents: ScriptedBackend,
    granted: Mutex<Vec<String>>,
}

#[async_trait]
impl AgentClientFactory for Recording {
    async fn probe(&self) -> Result<Capabilities, AgentError> {
        self.agents.probe().await
    }

    fn create(&self, spec: SessionSpec) -> Result<Box<dyn AgentClient>, AgentError> {
        let rules = spec.gate.grants().rules().map(ToString::to_string);
        self.granted.lock().expect("no panic").extend(rules);
        self.agents.create(spec)
    }
}

/// Runs a session that tries all blocked calls, under the configuration `text`.
fn nothing_is_open(text: &str, mode: Mode) -> Result<(), TestCaseError> {
    let Ok(config) = AgentConfig::parse(text, Path::new(FILE)) else {
        return Ok(());
    };
    let script = closed().into_iter().fold(
        SessionScript::new("tries it"),
        |script, (guard, tool, input)| script.is_denied_by(guard, tool, input),
    );
    let agents = Arc::new(Recording {
        agents: ScriptedBackend::new([script.ends()]).unverified(),
        granted: Mutex::default(),
    });
    let effective =
        EffectiveConfig::merge(Some(config), mode, SandboxSwitch::default()).expect("checked");
    let builder = SessionRunner::builder(PROJECT)
        .agents(agents.clone())
        .repository(Arc::new(MemoryRepository::new()))
        .instructions(Arc::new(BuiltInInstructions))
        .clock(Arc::new(VirtualClock::new()))
        .max_iterations(1);
    let runner = effective
        .apply(builder, &SpecContext::new(ProjectPaths::new(PROJECT)))
        .expect("the hooks can be built")
        .build()
        .expect("parts fit");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime");

    runtime.block_on(runner.run(&RunControl::new()));

    let decisions = agents.agents.decisions();
    prop_assert_eq!(decisions.len(), closed().len(), "{}", text);
    for ((call, decision), (guard, ..)) in decisions.iter().zip(closed()) {
        let by_guard = matches!(decision, GateDecision::Deny { by, .. } if by == guard);
        prop_assert!(by_guard, "{call:?} {decision:?} {text}");
    }
    let granted = agents.granted.lock().expect("no panic");
    for rule in Grants::baseline(mode).rules() {
        prop_assert!(granted.contains(&rule.to_string()), "{rule} {text}");
    }
    Ok(())
}

proptest! {
    #[test]
    fn a_valid_configuration_opens_nothing(config in valid(), mode in any_mode()) {
        nothing_is_open(&config.to_string(), mode)?;
    }

    #[test]
    fn a_disturbed_configuration_opens_nothing(config in disturbed(), mode in any_mode()) {
        nothing_is_open(&config.to_string(), mode)?;
    }
}

/// Decides about a call of a file tool in a session with these permission rules.
async fn decide(rules: &[&str], mode: Mode, path: &str) -> GateDecision {
    let text = json!({"permissions": {"allow": rules}}).to_string();
    let config = AgentConfig::parse(&text, Path::new(FILE)).expect("valid");
    let effective =
        EffectiveConfig::merge(Some(config), mode, SandboxSwitch::default()).expect("checked");
    let gate = effective
        .apply(
            SessionRunner::builder(PROJECT),
            &SpecContext::new(ProjectPaths::new(PROJECT)),
        )
        .expect("there are no hooks")
        .build_gate()
        .expect("parts fit");
    let call = ToolCall::new("Write", json!({"file_path": path, "content": "x"}))
        .in_dir(PROJECT)
        .in_mode(mode);
    gate.decide(&call).await
}

/// The guards and the grants agree, and no rule grants access to the folders of sessions, or to
/// `/tmp` in a sync.
#[tokio::test]
async fn file_tools_write_temporary_files_in_run_mode_without_the_folders_of_sessions() {
    let is_allowed = |decision: &GateDecision| !matches!(decision, GateDecision::Deny { .. });
    let session = "/tmp/autonoe-1000/.autonoe/autonoe-claude-a1b2c3";
    for (path, mode, allowed) in [
        ("/tmp/x", Mode::Run, true),
        ("/tmp/deep/er/x", Mode::Run, true),
        ("/tmp/x", Mode::Sync, false),
        (&format!("{session}/bash-setup.sh"), Mode::Run, false),
        (&format!("{session}/config/settings.json"), Mode::Run, false),
        (&format!("{session}/bash-setup.sh"), Mode::Sync, false),
        ("/tmp/x/../autonoe-1000/y", Mode::Run, false),
        ("/tmp/autonoe-1000", Mode::Run, false),
    ] {
        for rules in [&[][..], &["Write(/tmp/**)", "Edit(/tmp/**)"]] {
            let decision = decide(rules, mode, path).await;

            assert_eq!(
                is_allowed(&decision),
                allowed,
                "{path} {mode}: {decision:?}"
            );
        }
    }
    let GateDecision::Deny { reason, .. } = decide(&[], Mode::Run, "/etc/x").await else {
        panic!("it is outside the project");
    };
    assert_eq!(
        reason,
        "\"/etc/x\" is outside the project; write inside the project or /tmp"
    );
}
