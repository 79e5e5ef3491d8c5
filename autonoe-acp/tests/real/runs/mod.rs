//! Whole runs through the public API, in the outer sandbox: planning, coding, the ledger on disk.

mod disturbed;
mod tool_results;
mod whole;

use std::sync::Arc;

use autonoe_core::OuterSandbox;
use autonoe_mcp::HttpToolServer;
use autonoe_testkit::model_server::Turn;
use autonoe_testkit::program::{WatchedRun, status_on_disk};
use serde_json::json;

use crate::setting::Setting;

/// What a model does to plan one deliverable.
fn planning() -> [Turn; 2] {
    let deliverable = json!({
        "id": "DL-001",
        "description": "A greeting",
        "acceptanceCriteria": ["hello.txt says hello"],
    });
    [
        Turn::tool("mcp_autonoe_create", json!({"deliverables": [deliverable]})),
        Turn::text("It is planned."),
    ]
}

/// What a model does to say that the deliverable has passed.
fn passing() -> [Turn; 2] {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    [
        Turn::tool("mcp_autonoe_set_status", passed),
        Turn::text("It is done."),
    ]
}

/// Makes a run in the project of a setting, in the outer sandbox.
fn run_in(setting: &Setting) -> WatchedRun {
    run_without_walls(setting).configure(|run| run.outer_sandbox(OuterSandbox::bubblewrap()))
}

/// Makes a run in the project of a setting, whose plan is there, in the outer sandbox.
fn run_planned_in(setting: &Setting) -> WatchedRun {
    let run = WatchedRun::in_planned_project(&setting.project(), setting.agents());
    run.configure(|run| {
        run.tool_server(Arc::new(HttpToolServer::new()))
            .outer_sandbox(OuterSandbox::bubblewrap())
    })
}

fn run_without_walls(setting: &Setting) -> WatchedRun {
    let run = WatchedRun::in_project(&setting.project(), setting.agents());
    run.configure(|run| run.tool_server(Arc::new(HttpToolServer::new())))
}
