//! Temporary projects, and runs killed in them.

mod crash_points;
mod killed_processes;
mod temp_project;

use autonoe_core::CostUsd;
use autonoe_testkit::SessionScript;
use serde_json::json;

fn plans() -> SessionScript {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["it works"]},
    ]});
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", plan)
        .costs(CostUsd::from_cents(10))
        .ends()
}

fn sets_status(status: &str) -> SessionScript {
    let input = json!({"deliverableId": "DL-001", "status": status});
    SessionScript::new("builds")
        .uses_tool("mcp__autonoe__set_status", input)
        .costs(CostUsd::from_cents(20))
        .ends()
}
