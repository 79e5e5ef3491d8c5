//! Journal, and runs that are resumed from it.

mod crash_points;
mod damaged_journals;
mod limit_overrides;
mod resume;
mod selected_instructions;
mod stalled_sessions;
mod tail;
mod timeline;
mod writing;

use std::sync::Arc;

use autonoe_core::project::OpenProject;
use autonoe_core::time::SeededIds;
use autonoe_core::{CostUsd, OnQuota, ProjectRun, RunControl, RunReport};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use serde_json::json;

fn create(ids: &[&str]) -> serde_json::Value {
    let deliverables: Vec<_> = ids
        .iter()
        .map(|id| json!({"id": id, "description": "a thing", "acceptanceCriteria": ["it works"]}))
        .collect();
    json!({ "deliverables": deliverables })
}

fn status(id: &str, status: &str) -> serde_json::Value {
    json!({"deliverableId": id, "status": status})
}

/// Returns a run with every kind of event: planning, an error, a quota wait, a denied call.
fn scripts() -> Vec<SessionScript> {
    scripts_with_quota_back_at("2026-01-01T05:00:00Z")
}

fn scripts_with_quota_back_at(reset: &str) -> Vec<SessionScript> {
    vec![
        SessionScript::new("plans")
            .uses_tool("mcp__autonoe__create", create(&["A", "B"]))
            .costs(CostUsd::from_cents(10))
            .ends(),
        SessionScript::new("breaks off").says("working"),
        SessionScript::new("hits the quota")
            .says("working")
            .hits_quota(reset.parse().ok()),
        SessionScript::new("passes A")
            .uses_tool("mcp__autonoe__set_status", status("A", "passed"))
            .costs(CostUsd::from_cents(20))
            .ends(),
        SessionScript::new("passes B")
            .is_denied_by(
                "file-scope",
                "Write",
                json!({"file_path": "/etc/passwd", "content": ""}),
            )
            .uses_tool("mcp__autonoe__set_status", status("B", "passed"))
            .costs(CostUsd::from_cents(20))
            .ends(),
    ]
}

fn run(project: &TempProject, agents: ScriptedBackend) -> ProjectRun {
    ProjectRun::new(
        OpenProject::options(project.project()).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents),
    )
    .configure(|runner| {
        runner
            .ids(Arc::new(SeededIds::new(7)))
            .on_quota(OnQuota::Wait)
    })
}

async fn whole_run(project: &TempProject) -> RunReport {
    run(project, ScriptedBackend::new(scripts()))
        .run(&RunControl::new())
        .await
        .expect("it starts")
}
