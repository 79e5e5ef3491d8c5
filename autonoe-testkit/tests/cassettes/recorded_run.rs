//! A recorded run that covers every feature of a cassette.

use std::sync::Arc;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::event::InstructionName;
use autonoe_core::ledger::{LedgerState, MemoryRepository};
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::SeededIds;
use autonoe_core::{
    AgentClientFactory, CostUsd, DeliverableRepository, HookDecision, PreToolUseHook, RunControl,
    RunReport, SessionRunner, hook_fn,
};
use autonoe_testkit::{
    Cassette, EventLog, Recorder, ScriptedBackend, SessionScript, ToolUse, VirtualClock,
};
use serde_json::json;

pub(crate) const SECRET: &str = "sk-hunter2";
pub(crate) const TOKEN: &str = "the \"quoted\" token";

pub(crate) fn scripts() -> [SessionScript; 3] {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    let unknown = json!({"deliverableId": "DL-404", "status": "passed"});
    [
        SessionScript::new("plans")
            .thinks("what is asked?")
            .uses_tool("mcp__autonoe__create", plan)
            .costs(CostUsd::from_cents(10))
            .ends(),
        SessionScript::new("breaks").fails(AgentErrorKind::Overloaded, "too much to do"),
        SessionScript::new("builds")
            .is_denied_by("bash-security", "Bash", json!({"command": "rm -rf /"}))
            .calls_at_once([
                ToolUse::new("Read", json!({"file_path": "SPEC.md"})).answering("Do it."),
                ToolUse::new("Write", json!({"file_path": "key", "content": SECRET})),
            ])
            .fails_tool("mcp__autonoe__set_status", unknown)
            .says(json!({"token": TOKEN}).to_string())
            .uses_tool("mcp__autonoe__set_status", passed)
            .ends(),
    ]
}

/// Results of a run.
#[derive(Debug)]
pub(crate) struct RunResults {
    pub(crate) report: RunReport,
    pub(crate) ledger: Option<LedgerState>,
    pub(crate) log: String,
}

pub(crate) async fn run_with(
    agents: Arc<dyn AgentClientFactory>,
    hook: Arc<dyn PreToolUseHook>,
) -> RunResults {
    let repository = Arc::new(MemoryRepository::new());
    let texts = InstructionName::BUILT_IN.map(|name| (name, format!("Do it with {SECRET}.")));
    let log = Arc::new(EventLog::new());
    let report = SessionRunner::builder("/srv/project")
        .agents(agents)
        .repository(repository.clone())
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .clock(Arc::new(VirtualClock::new()))
        .ids(Arc::new(SeededIds::new(1)))
        .environment("TOKEN", TOKEN)
        .environment("CI", "1")
        .hook(hook)
        .observer(log.clone())
        .max_iterations(5)
        .build()
        .expect("parts fit")
        .run(&RunControl::new())
        .await;
    let saved = repository.load().await.expect("it is in memory");
    RunResults {
        report,
        ledger: saved.map(|saved| saved.state),
        log: log.render(),
    }
}

pub(crate) async fn run(agents: Arc<dyn AgentClientFactory>) -> RunResults {
    run_with(agents, hook_fn("nothing", |_, _| HookDecision::Pass)).await
}

pub(crate) async fn recorded() -> (Cassette, RunResults) {
    let agents = Arc::new(ScriptedBackend::new(scripts()));
    let recorder = Arc::new(Recorder::new(agents).with_secrets([SECRET]));
    let left = run(recorder.clone()).await;
    (recorder.cassette(), left)
}
