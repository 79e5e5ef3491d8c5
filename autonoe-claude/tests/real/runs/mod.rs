//! Whole runs through the public API: planning, coding, and the ledger on disk.

mod budget;
mod control;
mod guards;
mod project_paths;
mod quota;
mod sync;
mod turns;
mod whole;

use autonoe_testkit::model_server::anthropic::Turn;
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
        Turn::tool(
            "mcp__autonoe__create",
            json!({"deliverables": [deliverable]}),
        ),
        Turn::text("It is planned."),
    ]
}

/// Returns the model turns that pass the deliverable.
fn passing() -> [Turn; 2] {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    [
        Turn::tool("mcp__autonoe__set_status", passed),
        Turn::text("It is done."),
    ]
}

fn bash(command: &str) -> Turn {
    let input = json!({"command": command, "description": "as the script says"});
    Turn::tool("Bash", input)
}

/// Creates a run in the unplanned project of a fixture.
fn run_in(fixture: &Fixture) -> WatchedRun {
    WatchedRun::in_project(&fixture.project(), fixture.agents())
}

/// Creates a run in the planned project of a fixture.
fn run_planned_in(fixture: &Fixture) -> WatchedRun {
    WatchedRun::in_planned_project(&fixture.project(), fixture.agents())
}

/// Returns the texts of the tool results that the model received, in order.
fn tool_results(fixture: &Fixture) -> Vec<String> {
    let requests = fixture.server.log().main_requests();
    let results = requests.iter().flat_map(|request| request.tool_results());
    results.map(|result| result.text.clone()).collect()
}
