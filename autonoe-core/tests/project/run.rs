//! Whole runs in a real folder.

use std::sync::Arc;

use autonoe_core::event::InstructionName;
use autonoe_core::project::{FileDeliverableRepository, RunLock};
use autonoe_core::run::FixedInstructions;
use autonoe_core::time::SeededIds;
use autonoe_core::{ExitReason, RunControl, SessionRunner};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use jiff::Timestamp;
use serde_json::json;

// Shows: spec/5.3/persistence-on-disk
#[tokio::test(start_paused = true)]
async fn a_run_stores_its_ledger_in_the_project_and_passes_its_lock_to_the_agent() {
    let folder = TempProject::new();
    let project = folder.project();
    let lock = RunLock::acquire(project, Timestamp::now()).expect("the lock is free");
    let repository = FileDeliverableRepository::open(project).expect("writable");
    let agents = Arc::new(ScriptedBackend::new([
        SessionScript::new("plans")
            .uses_tool(
                "mcp__autonoe__create",
                json!({"deliverables": [
                    {"id": "A", "description": "Login", "acceptanceCriteria": ["it works"]},
                ]}),
            )
            .is_denied_by(
                "autonoe-protection",
                "Write",
                json!({"file_path": ".autonoe/status.json", "content": "{}"}),
            )
            .ends(),
        SessionScript::new("builds")
            .uses_tool(
                "mcp__autonoe__set_status",
                json!({"deliverableId": "A", "status": "passed"}),
            )
            .ends(),
    ]));
    let texts = InstructionName::BUILT_IN.map(|name| (name, "Do it."));

    let report = SessionRunner::builder(project.root())
        .agents(agents)
        .repository(Arc::new(repository))
        .instructions(Arc::new(FixedInstructions::new(texts)))
        .clock(Arc::new(VirtualClock::new()))
        .ids(Arc::new(SeededIds::new(1)))
        .lock(lock.descriptor())
        .build()
        .expect("parts fit")
        .run(&RunControl::new())
        .await;

    assert_eq!(report.exit, ExitReason::AllPassed);
    insta::assert_snapshot!(folder.read(".autonoe/status.json"));
}
