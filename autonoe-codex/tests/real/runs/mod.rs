//! Whole runs through the public API: planning, coding, and the ledger on disk.

mod disturbed;
mod guards;
mod optional_servers;
mod quota;
mod refused;
mod whole;

use autonoe_testkit::model_server::Turn;
use autonoe_testkit::program::{WatchedRun, status_on_disk};
use serde_json::json;

use crate::model::ours;
use crate::setting::Setting;

/// What a model does to plan one deliverable.
pub(crate) fn planning() -> [Turn; 2] {
    let deliverable = json!({
        "id": "DL-001",
        "description": "A greeting",
        "acceptanceCriteria": ["hello.txt says hello"],
    });
    [
        ours("create", &json!({"deliverables": [deliverable]})),
        Turn::text("It is planned."),
    ]
}

/// What a model does to say that the deliverable has passed.
pub(crate) fn passing() -> [Turn; 2] {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    [ours("set_status", &passed), Turn::text("It is done.")]
}

/// Makes a run in the project of a setting, in the sandbox if that has one.
pub(crate) fn run_in(setting: &Setting) -> WatchedRun {
    let run = WatchedRun::in_project(&setting.project(), setting.agents());
    match setting.outer_sandbox() {
        Some(sandbox) => run.configure(|runner| runner.outer_sandbox(sandbox)),
        None => run,
    }
}
