//! Runs a script through the public API.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::agent::OuterSandbox;
use autonoe_core::project::OpenProject;
use autonoe_core::{AgentClientFactory, ProjectRun, RunControl};
use autonoe_mcp::HttpToolServer;
use autonoe_testkit::{EventLog, VirtualClock};
use tokio::time::timeout;

use crate::backends::outcome::Outcome;
use crate::backends::run_script::RunScript;
use crate::backends::workspace::{TIMEOUT, TempWorkspace};

/// A backend, and the sandbox that a run on it needs.
pub(crate) struct Agents {
    pub(crate) factory: Arc<dyn AgentClientFactory>,
    pub(crate) outer_sandbox: Option<OuterSandbox>,
}

/// Runs a script to its end, and returns the outcome.
///
/// The clock starts on the same day for all backends, so that ledgers have the same dates.
pub(crate) async fn run(run_script: &RunScript, agents: Agents, place: &TempWorkspace) -> Outcome {
    if let Some(plan) = &run_script.plan {
        place.write(".autonoe/status.json", &plan.to_string());
    }
    let log = Arc::new(EventLog::new());
    let (observer, max_iterations) = (log.clone(), run_script.max_iterations);
    let run = ProjectRun::new(
        OpenProject::options(&place.project())
            .mode(run_script.mode)
            .clock(VirtualClock::in_real_time()),
        agents.factory,
    )
    .configure(move |runner| {
        let mut runner = runner
            .pause_between_sessions(Duration::ZERO)
            .tool_server(Arc::new(HttpToolServer::new()))
            .observer(observer);
        if let Some(sessions) = max_iterations {
            runner = runner.max_iterations(sessions);
        }
        match agents.outer_sandbox {
            Some(sandbox) => runner.outer_sandbox(sandbox),
            None => runner,
        }
    });

    let report = timeout(TIMEOUT, run.run(&RunControl::new())).await;

    let report = report.expect("it ends in time").expect("it starts");
    place.assert_nothing_is_left();
    Outcome::new(&report, &log, place)
}
