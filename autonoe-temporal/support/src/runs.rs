//! Submits runs and waits for them, even while the server is unreachable.

use std::time::Duration;

use autonoe_core::RunId;
use autonoe_core::engine::{Engine, Placement, RunOutcome, RunProgress, RunSpec, RunView};
use autonoe_temporal::{TemporalEngine, TemporalSettings, Timeouts};

use crate::waiting::within;

/// Much shorter timeouts than usual, so that tests do not take minutes.
pub fn short_timeouts() -> Timeouts {
    Timeouts {
        heartbeat: Duration::from_secs(8),
        heartbeat_interval: Duration::from_secs(1),
        sticky: Duration::from_secs(1),
        host: Duration::from_secs(4),
        ..Timeouts::default()
    }
}

/// Connects to a server that is running.
pub async fn engine(settings: &TemporalSettings) -> TemporalEngine {
    let engine = TemporalEngine::connect(settings.clone()).await;
    engine.expect("the server answers")
}

/// Submits a run for any host.
pub async fn submit(settings: &TemporalSettings, run: &RunSpec) {
    submit_to(settings, run, Placement::anywhere()).await;
}

/// Submits a run.
pub async fn submit_to(settings: &TemporalSettings, run: &RunSpec, place: Placement) {
    let submitted = engine(settings).await.submit(run.clone(), place).await;
    assert_eq!(submitted.expect("it is taken"), run.id);
}

/// Waits for the end of a run.
pub async fn outcome(settings: &TemporalSettings, run: &RunSpec) -> RunOutcome {
    let waiting = async {
        loop {
            if let Ok(engine) = TemporalEngine::connect(settings.clone()).await
                && let Ok(outcome) = engine.wait(&run.id).await
            {
                return outcome;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    };
    within(&format!("the end of {}", run.id), waiting).await
}

/// Returns whether the progress of a run is known and satisfies `is_so`.
pub fn is_at(view: &RunView, is_so: impl Fn(&RunProgress) -> bool) -> bool {
    view.progress.as_ref().is_some_and(is_so)
}

/// Waits until the status of a run satisfies `is_so`.
pub async fn wait_for_status(
    engine: &TemporalEngine,
    run: &RunId,
    is_so: impl Fn(&RunView) -> bool,
) -> RunView {
    let polling = async {
        loop {
            // It may not have started.
            let view = engine.status(run).await.ok();
            if let Some(view) = view.filter(&is_so) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within(&format!("what {run} is to come to"), polling).await
}
