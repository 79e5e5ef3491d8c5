//! How runs are submitted and waited for, also while the server is away.

use std::time::{Duration, Instant};

use autonoe_core::{Engine, Placement, RunId, RunOutcome, RunSpec, RunView};
use autonoe_temporal::{Pace, TemporalEngine, TemporalSettings};

/// How long anything may take here, on a busy machine.
const DEADLINE: Duration = Duration::from_secs(180);

/// Much hastier than one would be: so that a test does not take minutes.
pub(crate) fn hasty() -> Pace {
    Pace {
        heartbeat: Duration::from_secs(8),
        beat: Duration::from_secs(1),
        sticky: Duration::from_secs(1),
        host: Duration::from_secs(4),
        ..Pace::default()
    }
}

pub(crate) async fn engine(settings: &TemporalSettings) -> TemporalEngine {
    let engine = TemporalEngine::connect(settings.clone()).await;
    engine.expect("the server answers")
}

pub(crate) async fn submit(settings: &TemporalSettings, run: &RunSpec) {
    submit_to(settings, run, Placement::anywhere()).await;
}

pub(crate) async fn submit_to(settings: &TemporalSettings, run: &RunSpec, place: Placement) {
    let taken = engine(settings).await.submit(run.clone(), place).await;
    assert_eq!(taken.expect("it is taken"), run.id);
}

/// Waits for the end of a run.
pub(crate) async fn outcome(settings: &TemporalSettings, run: &RunSpec) -> RunOutcome {
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
    let waited = tokio::time::timeout(DEADLINE, waiting).await;
    waited.unwrap_or_else(|_| panic!("{} does not end", run.id))
}

/// Waits until a run stands in a certain way.
pub(crate) async fn seen(
    engine: &TemporalEngine,
    run: &RunId,
    is_so: impl Fn(&RunView) -> bool,
) -> RunView {
    let begun = Instant::now();
    loop {
        // It may not have begun.
        let view = engine.status(run).await.ok();
        if let Some(view) = view.filter(&is_so) {
            return view;
        }
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {run}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Waits until something is so.
pub(crate) async fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
