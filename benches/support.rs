//! Shared support of the benchmarks: complete runs on scripted agents that add no time of their
//! own.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::event::InstructionName;
use autonoe_core::gate::policy::Verdict;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::FixedInstructions;
use autonoe_core::{RunControl, RunReport, SessionRunner};
use autonoe_testkit::{ScriptedBackend, SessionScript};
use serde_json::{Value, json};

/// Returns the input of `create` for one deliverable.
pub fn one_deliverable() -> Value {
    json!({"deliverables": [
        {"id": "DL-001", "description": "a thing", "acceptanceCriteria": ["it works"]},
    ]})
}

/// Returns a session that plans one deliverable.
pub fn plan() -> SessionScript {
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", one_deliverable())
        .ends()
}

/// Returns a session of a dozen events that changes nothing.
pub fn work() -> SessionScript {
    SessionScript::new("works")
        .thinks("what is next?")
        .says("I look at the code.")
        .uses_tool("Read", json!({"file_path": "src/main.rs"}))
        .uses_tool("Bash", json!({"command": "ls"}))
        .uses_tool("mcp__autonoe__list", json!({}))
        .says("Nothing to do yet.")
        .ends()
}

/// Returns a session that marks the deliverable as passed.
pub fn finish() -> SessionScript {
    SessionScript::new("finishes")
        .uses_tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        )
        .ends()
}

/// Runs `sessions` working sessions between planning and the end, without a pause.
///
/// # Panics
///
/// If the parts do not fit together, or the script is not played as written.
pub async fn whole_run(sessions: usize) -> RunReport {
    let scripts = std::iter::once(plan())
        .chain(std::iter::repeat_with(work).take(sessions))
        .chain([finish()]);
    let texts = InstructionName::BUILT_IN.map(|name| (name, "Do it."));
    let runner = SessionRunner::builder("/srv/project")
        .agents(Arc::new(ScriptedBackend::new(scripts)))
        .repository(Arc::new(MemoryRepository::new()))
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .bash_security(|_: &str| Verdict::Allow)
        .pause_between_sessions(Duration::ZERO)
        .build()
        .expect("the parts fit");
    let report = runner.run(&RunControl::new()).await;
    assert!(report.exit.is_success(), "{report}");
    report
}
