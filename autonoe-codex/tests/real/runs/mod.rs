//! Whole runs through the public API: planning, coding, and the ledger on disk.

mod failures;
mod guards;
mod optional_servers;
mod quota;
mod refused;
mod whole;

use autonoe_testkit::model_server::Turn;
use autonoe_testkit::program::{WatchedRun, status_on_disk};
use serde_json::json;

use crate::fixture::Fixture;
use crate::model::autonoe_tool_call;

/// Returns the model turns that plan one deliverable.
pub(crate) fn planning() -> [Turn; 2] {
    let deliverable = json!({
        "id": "DL-001",
        "description": "A greeting",
        "acceptanceCriteria": ["hello.txt says hello"],
    });
    [
        autonoe_tool_call("create", &json!({"deliverables": [deliverable]})),
        Turn::text("It is planned."),
    ]
}

/// Returns the model turns that pass the deliverable.
pub(crate) fn passing() -> [Turn; 2] {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    [
        autonoe_tool_call("set_status", &passed),
        Turn::text("It is done."),
    ]
}

/// Creates a run in the project of a fixture, in its sandbox if it has one.
pub(crate) fn run_in(fixture: &Fixture) -> WatchedRun {
    let run = WatchedRun::in_project(&fixture.project(), fixture.agents());
    match fixture.outer_sandbox() {
        Some(sandbox) => run.configure(|runner| runner.outer_sandbox(sandbox)),
        None => run,
    }
}
