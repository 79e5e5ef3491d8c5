//! Kills a run in the middle of a session, then resumes it.
//!
//! The first process is this program, started again with an argument; it is killed with a real
//! signal. Its decisions are in the journal of the project.
//!
//! ```console
//! $ cargo run --example resume_killed_run
//! ```
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use autonoe_core::project::{Journal, JournalReadError, RunStopReason};
use autonoe_core::{Project, ProjectRun, RunControl};
use autonoe_scripted::{ScriptedBackend, SessionScript};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(folder) = std::env::args().nth(1) {
        let hanging =
            ScriptedBackend::new([plans(), SessionScript::new("hangs").says("x").hangs()]);
        return run(Path::new(&folder), hanging).await;
    }
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("SPEC.md"), "# A shop\n")?;
    let project = Project::find(folder.path(), None)?;

    let mut first = Command::new(std::env::current_exe()?)
        .arg(folder.path())
        .spawn()?;
    let started = Instant::now();
    while !is_in_session_2(&project)? {
        if started.elapsed() > Duration::from_secs(60) {
            first.kill()?;
            return Err("session 2 did not start".into());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    first.kill()?;
    first.wait()?;
    let histories = Journal::read(&project.journal_path())?.run_histories();
    println!("first process: {}", histories[0].stop_reason());

    run(
        folder.path(),
        ScriptedBackend::resuming_at(2, [plans(), builds()]),
    )
    .await
}

fn is_in_session_2(project: &Project) -> Result<bool, JournalReadError> {
    let histories = Journal::read(&project.journal_path())?.run_histories();
    Ok(histories.first().is_some_and(|run| {
        matches!(run.stop_reason(), RunStopReason::Interrupted(_)) && run.sessions == 2
    }))
}

async fn run(folder: &Path, agents: ScriptedBackend) -> Result<(), Box<dyn Error>> {
    let report = ProjectRun::new(Project::find(folder, None)?, agents)
        .configure(|runner| runner.pause_between_sessions(Duration::ZERO))
        .run(&RunControl::new())
        .await?;
    println!("{report}");
    Ok(())
}

fn plans() -> SessionScript {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
    ]});
    SessionScript::new("plans")
        .uses_tool("mcp__autonoe__create", plan)
        .ends()
}

fn builds() -> SessionScript {
    let passed = json!({"deliverableId": "DL-001", "status": "passed"});
    SessionScript::new("builds")
        .uses_tool("mcp__autonoe__set_status", passed)
        .ends()
}
