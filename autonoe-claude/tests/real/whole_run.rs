//! A whole run: planning, coding, and what is not allowed, in the sandbox.

use std::fs;
use std::sync::Arc;

use autonoe_core::{ExitReason, Project, ProjectRun, RunControl};
use autonoe_testkit::model_server::anthropic::{Script, Turn};
use serde_json::json;

use crate::build::{Build, on_both_builds};
use crate::setting::Setting;

const LEDGER: &str = ".autonoe/status.json";

async fn a_project_is_planned_and_built(build: Build) {
    let script = Script::new([
        Turn::tool(
            "mcp__autonoe__create",
            json!({"deliverables": [{
                "id": "DL-001",
                "description": "A greeting",
                "acceptanceCriteria": ["hello.txt says hello"],
            }]}),
        ),
        Turn::text("It is planned."),
        Turn::tool(
            "Bash",
            json!({"command": "curl example.com", "description": "look"}),
        ),
        Turn::tool("Write", json!({"file_path": LEDGER, "content": "{}"})),
        Turn::tool(
            "Bash",
            json!({"command": "echo hello > hello.txt", "description": "greet"}),
        ),
        Turn::tool(
            "mcp__autonoe__set_status",
            json!({"deliverableId": "DL-001", "status": "passed"}),
        ),
        Turn::text("It is done."),
    ]);
    let setting = Setting::new(build, script);
    fs::write(setting.project().join("SPEC.md"), "# A greeting\n").expect("writable");
    let project = Project::find(&setting.project(), None).expect("a project");

    let report = ProjectRun::new(project, Arc::new(setting.agents()))
        .start(&RunControl::new())
        .await
        .expect("it starts");

    assert_eq!(report.exit, ExitReason::AllPassed, "{report}");
    let greeting = fs::read_to_string(setting.project().join("hello.txt"));
    assert_eq!(greeting.expect("it was written"), "hello\n");
    let told: Vec<String> = setting
        .server
        .log()
        .main_requests()
        .iter()
        .flat_map(|request| request.tool_results())
        .map(|result| format!("{result:?}"))
        .collect();
    let told_of = |text: &str| told.iter().any(|result| result.contains(text));
    assert!(
        told_of("Command 'curl' is not in the allowlist"),
        "{told:?}"
    );
    // The program's own rule is faster than the gate here.
    assert!(told_of("denied by your permission settings"), "{told:?}");
    setting.server.verify();
}

on_both_builds![a_project_is_planned_and_built];
