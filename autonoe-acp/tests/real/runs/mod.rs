//! Whole runs through the public API in the outer sandbox: planning, coding, and the ledger on
//! disk.

mod failures;
mod tool_results;
mod whole;

use std::sync::Arc;

use autonoe_core::agent::OuterSandbox;
use autonoe_mcp::HttpToolServer;
use autonoe_testkit::model_server::Turn;
use autonoe_testkit::program::{WatchedRun, status_on_disk};
use serde_json::json;

use crate::fixture::Fixture;

/// Returns the model turns that plan one deliverable.
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

/// Returns the model turns that pass the deliverable.
fn passing() -> [Turn; 2] {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    [
        Turn::tool("mcp_autonoe_set_status", passed),
        Turn::text("It is done."),
    ]
}

/// Creates a run in the project of a fixture, in the outer sandbox.
fn run_in(fixture: &Fixture) -> WatchedRun {
    run_without_walls(fixture).configure(|run| run.outer_sandbox(OuterSandbox::bubblewrap()))
}

/// Creates a run in the planned project of a fixture, in the outer sandbox.
fn run_planned_in(fixture: &Fixture) -> WatchedRun {
    let run = WatchedRun::in_planned_project(&fixture.project(), fixture.agents());
    run.configure(|run| {
        run.tool_server(Arc::new(HttpToolServer::new()))
            .outer_sandbox(OuterSandbox::bubblewrap())
    })
}

fn run_without_walls(fixture: &Fixture) -> WatchedRun {
    let run = WatchedRun::in_project(&fixture.project(), fixture.agents());
    run.configure(|run| run.tool_server(Arc::new(HttpToolServer::new())))
}
