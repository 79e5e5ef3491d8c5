//! Runs agents in a real folder with its lock, ledger, journal, settings and instructions.
//!
//! ```console
//! $ cargo run --example real_folder
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::time::Duration;

use autonoe_core::project::{Journal, RunTimeline};
use autonoe_core::{Project, ProjectRun, RunControl};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    fs::write(
        folder.path().join("SPEC.md"),
        "# A shop\n\nA user can log in.\n",
    )?;
    let project = Project::find(folder.path(), None)?;

    let report = ProjectRun::new(project.clone(), agents())
        .configure(|runner| runner.pause_between_sessions(Duration::ZERO))
        .run(&RunControl::new())
        .await?;

    println!("{report}\n");
    println!("{}", fs::read_to_string(project.status_path())?);
    let journal = Journal::read(&project.journal_path())?;
    for history in journal.run_histories() {
        println!("Run {}: {}", history.run, history.stop_reason());
        let timeline = RunTimeline::from_journal(&journal, &history.run);
        for session in timeline.iter().flat_map(|timeline| &timeline.sessions) {
            println!(
                "  session {} ({}): {} changes",
                session.number, session.instruction, session.changes
            );
        }
    }
    Ok(())
}

/// Returns a scripted agent that plans one deliverable and builds it.
fn agents() -> ScriptedBackend {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
    ]});
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    ScriptedBackend::new([
        SessionScript::new("plans")
            .uses_tool("mcp__autonoe__create", plan)
            .ends(),
        SessionScript::new("builds")
            .uses_tool("mcp__autonoe__set_status", passed)
            .ends(),
    ])
}
