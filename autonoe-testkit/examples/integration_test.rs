//! An integration test as a consumer writes it: a scripted agent in virtual time.
//!
//! The quota is exhausted for five hours, and the run waits until it resets. Run it with
//! `cargo run -p autonoe-testkit --example integration_test`, or as a test with
//! `cargo test -p autonoe-testkit --example integration_test`.
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use autonoe_core::event::InstructionName;
use autonoe_core::ledger::MemoryRepository;
use autonoe_core::run::{BuildError, FixedInstructions};
use autonoe_core::time::{Clock, format_duration};
use autonoe_core::{OnQuota, RunControl, RunReport, SessionRunner};
use autonoe_testkit::{EventLog, ScriptedBackend, SessionScript, VirtualClock};
use serde_json::json;

const FIVE_HOURS: Duration = Duration::from_secs(5 * 3600);

/// Runs into an exhausted quota with a runner that the code under test sets up.
async fn run_until_quota(on_quota: OnQuota) -> Result<(RunReport, Arc<EventLog>), BuildError> {
    let clock = VirtualClock::new();
    let reset = clock.now().checked_add(FIVE_HOURS).ok();
    let mut scripts = vec![
        plans(),
        SessionScript::new("is turned away").hits_quota(reset),
    ];
    if on_quota == OnQuota::Wait {
        scripts.push(builds());
    }
    let agents = Arc::new(ScriptedBackend::new(scripts));
    let log = Arc::new(EventLog::new());

    let runner = SessionRunner::builder("/srv/shop")
        .agents(agents.clone())
        .repository(MemoryRepository::new())
        .instructions(FixedInstructions::new([
            (
                InstructionName::Initializer,
                "Turn SPEC.md into deliverables.",
            ),
            (InstructionName::Coding, "Implement one deliverable."),
        ]))
        .on_quota(on_quota)
        .clock(clock)
        .observer(log.clone())
        .build()?;
    let report = runner.run(&RunControl::new()).await;

    agents.verify();
    Ok((report, log))
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

fn main() -> Result<(), Box<dyn Error>> {
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()?;

    let (report, log) = runtime.block_on(run_until_quota(OnQuota::Wait))?;

    println!("{}", log.render());
    println!("{report}");
    println!("virtual time: {}", format_duration(report.elapsed));
    println!("real time:    {} ms", started.elapsed().as_millis());
    Ok(())
}

#[cfg(test)]
mod tests {
    use autonoe_core::ExitReason;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_spent_quota_is_waited_for() {
        let (report, log) = run_until_quota(OnQuota::Wait).await.expect("the parts fit");

        assert_eq!(report.exit, ExitReason::AllPassed);
        assert_eq!((report.sessions, report.iterations), (3, 2));
        assert_eq!(report.elapsed, FIVE_HOURS);
        assert_eq!(log.count("wait_started"), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_spent_quota_ends_a_run_that_does_not_wait() {
        let (report, _) = run_until_quota(OnQuota::Stop).await.expect("the parts fit");

        assert_eq!(report.exit, ExitReason::QuotaExceeded);
        assert_eq!(report.elapsed, Duration::from_secs(3));
    }
}
