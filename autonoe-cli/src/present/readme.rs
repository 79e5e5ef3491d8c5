//! Test of the sample run in docs/README.md, in virtual time.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use autonoe_app::text::{Activity, lines, summary};
use autonoe_app::{AgentOptions, BackendChoice};
use autonoe_core::project::{Journal, OpenProject, RunTimeline};
use autonoe_core::run::LimitOverrides;
use autonoe_core::time::SeededIds;
use autonoe_core::{CostUsd, OnQuota, ProjectRun, RunControl, RunEvent, RunObserver};
use autonoe_testkit::{ScriptedBackend, SessionScript, TempProject, VirtualClock};
use serde_json::{Value, json};

use super::{DeniedCall, denial_summary};
use crate::commands::{configuration_lines, limits_line};

/// Collects the permanent lines of a run.
#[derive(Default)]
struct PermanentLines(Mutex<(Activity, Vec<String>)>);

impl RunObserver for PermanentLines {
    fn on_event(&self, event: &RunEvent<'_>) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (activity, texts) = &mut *state;
        activity.observe(&event.kind);
        let new = lines(event, activity.tools());
        texts.extend(new.into_iter().map(|line| line.text));
    }
}

fn session(name: &str, seconds: u64, cents: u64) -> SessionScript {
    SessionScript::new(name)
        .waits(Duration::from_secs(seconds))
        .costs(CostUsd::from_cents(cents))
}

fn set_status(id: &str, status: &str) -> Value {
    json!({"deliverableId": id, "status": status})
}

fn agents() -> ScriptedBackend {
    let deliverable = |id: &str, description: &str| json!({"id": id, "description": description, "acceptanceCriteria": ["it works"]});
    let plan = json!({"deliverables": [
        deliverable("DL-001", "User Auth"),
        deliverable("DL-002", "Payment"),
    ]});
    let reset = "2026-01-01T05:00:00Z".parse().ok();
    ScriptedBackend::new([
        session("plans", 31, 12)
            .uses_tool("mcp__autonoe__create", plan)
            .ends(),
        session("builds", 52, 35)
            .uses_tool("Write", json!({"file_path": "auth.rs", "content": ""}))
            .is_denied_by(
                "bash-security",
                "Bash",
                json!({"command": "git push --force"}),
            )
            .uses_tool("mcp__autonoe__set_status", set_status("DL-001", "passed"))
            .ends(),
        session("meets the quota", 4, 1).hits_quota(reset),
        session("lacks a key", 37, 30)
            .uses_tool("mcp__autonoe__set_status", set_status("DL-002", "blocked"))
            .ends(),
    ])
}

// Shows: interfaces/logger/category-session-start-end-with
// Shows: interfaces/tools/output-pass-user-auth-dl
#[tokio::test(start_paused = true)]
async fn readme_sample_matches_terminal_output() {
    let folder = TempProject::new().spec("# Shop\n");
    let collected = Arc::new(PermanentLines::default());
    let observer = collected.clone();
    let run = ProjectRun::new(
        OpenProject::options(folder.project()).clock(Arc::new(VirtualClock::new())),
        Arc::new(agents()),
    )
    .configure(|runner| {
        runner
            .ids(Arc::new(SeededIds::new(7)))
            .on_quota(OnQuota::Wait)
            .observer(observer)
    });

    let report = run.run(&RunControl::new()).await.expect("it starts");

    let journal = Journal::read(&folder.project().journal_path()).expect("readable");
    let timeline = RunTimeline::from_journal(&journal, &report.run).expect("it is there");
    let collected = collected.0.lock().unwrap_or_else(PoisonError::into_inner);
    let agent = AgentOptions::default();
    let limits = LimitOverrides {
        on_quota: Some(OnQuota::Wait),
        ..LimitOverrides::default()
    };
    let directory = Path::new("/home/me/shop");
    let denied: Vec<_> = timeline.denied.iter().map(DeniedCall::from).collect();
    let lines: String = configuration_lines(directory, &BackendChoice::default(), &agent)
        .iter()
        .chain(&limits_line(&limits, None))
        .chain(&collected.1)
        .chain(&summary(&report))
        .chain(&denial_summary(&denied, 5))
        .map(|line| format!("{line}\n"))
        .collect();
    let readme = include_str!("../../../docs/README.md");
    let sample = readme
        .split_once("## A run in the terminal\n")
        .and_then(|(_, rest)| rest.split_once("$ autonoe run --wait-for-quota\n"))
        .and_then(|(_, rest)| rest.split_once("```"))
        .map(|(sample, _)| sample);
    assert_eq!(
        sample,
        Some(lines.as_str()),
        "docs/README.md shows\n{lines}"
    );
}
