//! How runs are submitted and waited for, also while the server is away.

use std::time::Duration;

use autonoe_core::{Engine, Placement, RunId, RunOutcome, RunProgress, RunSpec, RunView};
use autonoe_temporal::{Pace, TemporalEngine, TemporalSettings};

use crate::waiting::within;

/// Much hastier than one would be: so that a test does not take minutes.
pub fn hasty() -> Pace {
    Pace {
        heartbeat: Duration::from_secs(8),
        beat: Duration::from_secs(1),
        sticky: Duration::from_secs(1),
        host: Duration::from_secs(4),
        ..Pace::default()
    }
}

/// Connects with a server that is there.
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
    let taken = engine(settings).await.submit(run.clone(), place).await;
    assert_eq!(taken.expect("it is taken"), run.id);
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

/// Tells whether somebody says how far a run is, and it is so far.
pub fn is_at(view: &RunView, is_so: impl Fn(&RunProgress) -> bool) -> bool {
    view.at.as_ref().is_some_and(is_so)
}

/// Waits until a run stands in a certain way.
pub async fn seen(
    engine: &TemporalEngine,
    run: &RunId,
    is_so: impl Fn(&RunView) -> bool,
) -> RunView {
    let looking = async {
        loop {
            // It may not have begun.
            let view = engine.status(run).await.ok();
            if let Some(view) = view.filter(&is_so) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    within(&format!("what {run} is to come to"), looking).await
}
