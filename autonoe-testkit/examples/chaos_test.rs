//! A chaos test as a consumer writes it: the run keeps its guarantees whatever the agents do.
//!
//! A fault injector wraps the agents, and a seed decides what goes wrong: a failing seed is a
//! reproducible test. Run it with `cargo run -p autonoe-testkit --example chaos_test`, or as a test
//! with `cargo test -p autonoe-testkit --example chaos_test`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use autonoe_core::project::{OpenProject, ProjectRunError};
use autonoe_core::time::SeededIds;
use autonoe_core::{ProjectRun, RunControl, RunReport};
use autonoe_testkit::{
    Expectation, FaultyAgents, ScriptedBackend, SessionScript, TempProject, ToolUse, VirtualClock,
};
use serde_json::json;

const MAX_ITERATIONS: u32 = 10;

/// The state after a run with faults.
struct Aftermath {
    report: RunReport,
    faulty: Arc<FaultyAgents>,
    project: TempProject,
}

async fn run_with_faults(seed: u64) -> Result<Aftermath, ProjectRunError> {
    let project = TempProject::new().spec("# A shop\n\nA user can log in and pay.\n");
    let sessions = std::iter::repeat_n(plan_and_work(), 50);
    let agents = ScriptedBackend::new(sessions).unverified();
    let faulty = Arc::new(FaultyAgents::new(agents, seed).with_rate_percent(60));

    let report = ProjectRun::new(
        OpenProject::options(project.project()).clock(VirtualClock::new()),
        faulty.clone(),
    )
    .configure(move |runner| {
        runner
            .ids(SeededIds::new(seed))
            .max_iterations(MAX_ITERATIONS)
    })
    .run(&RunControl::new())
    .await?;

    Ok(Aftermath {
        report,
        faulty,
        project,
    })
}

/// Plans and works on the plan; whether a call succeeds depends on the earlier sessions.
fn plan_and_work() -> SessionScript {
    let plan = json!({"deliverables": [
        {"id": "DL-001", "description": "Login", "acceptanceCriteria": ["a user can log in"]},
        {"id": "DL-002", "description": "Payment", "acceptanceCriteria": ["a user can pay"]},
    ]});
    let status = |id: &str, status: &str| json!({"deliverableId": id, "status": status});
    let calls = [
        ("mcp__autonoe__create", plan),
        ("mcp__autonoe__set_status", status("DL-001", "passed")),
        ("mcp__autonoe__set_status", status("DL-002", "blocked")),
    ];
    let script = SessionScript::new("does what it can").says("I look what there is to do.");
    let script = calls.into_iter().fold(script, |script, (name, input)| {
        script.calls(ToolUse::new(name, input).expecting(Expectation::Anything))
    });
    script.ends()
}

fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;

    hide_injected_panics();

    for seed in 0..12 {
        let after = runtime.block_on(run_with_faults(seed))?;
        let counts = after.project.ledger().map(|state| state.view().counts);
        let counts = counts.unwrap_or_default();
        println!(
            "seed {seed:2}: {} after {} sessions, {} passed and {} blocked",
            after.report.exit.code(),
            after.report.sessions,
            counts.passed,
            counts.blocked
        );
        for hit in after.faulty.hits() {
            println!("         {hit}");
        }
    }
    Ok(())
}

/// Suppresses the messages of injected panics: the run catches the panics of its agents.
fn hide_injected_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if !message.starts_with("the fault injector") {
            usual(panic);
        }
    }));
}

#[cfg(test)]
mod tests {
    use autonoe_core::project::RunStopReason;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn every_run_ends_with_a_correct_report() {
        for seed in 0..60 {
            let after = run_with_faults(seed).await.expect("it starts");

            let (report, hits) = (&after.report, after.faulty.hits());
            let label = format!("seed {seed}, {hits:?}: {report}");
            assert!(report.iterations <= MAX_ITERATIONS, "{label}");
            assert_eq!(after.faulty.disposed(), after.faulty.created(), "{label}");
            let counts = after.project.ledger().expect("it was saved").view().counts;
            let reported = report.deliverables.unwrap_or_default();
            assert_eq!(reported.passed, counts.passed, "{label}");
            assert_eq!(reported.blocked, counts.blocked, "{label}");
            let histories = after.project.journal().run_histories();
            let ended = RunStopReason::Ended(report.clone());
            assert_eq!(histories[0].stop_reason(), ended, "{label}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_seed_gives_the_same_run() {
        for seed in [3, 7] {
            let one = run_with_faults(seed).await.expect("it starts");
            let other = run_with_faults(seed).await.expect("it starts");

            assert_eq!(one.project.journal_text(), other.project.journal_text());
        }
    }
}
