//! Runs a single session, from probing its backend to its end.

use std::time::Duration;

use autonoe_core::agent::BudgetKind;
use autonoe_core::run::{BuildError, FlowExit, SessionRunnerBuilder};
use autonoe_core::session::{FlowStart, OpenSessions, PerformedSession};
use autonoe_core::time::Clock;
use autonoe_core::{Budget, Capabilities, RunControl, SessionOrder};
use jiff::Timestamp;
use serde_json::json;

/// Runs one session, from probing its backend to its end, within `time` and `limits`. `order`
/// creates its order from the capabilities of the backend.
///
/// # Errors
///
/// The session did not start.
pub(super) async fn run_single_session(
    builder: SessionRunnerBuilder,
    start: FlowStart,
    order: impl FnOnce(&Capabilities) -> SessionOrder,
    (control, clock): (&RunControl, &dyn Clock),
    (time, limits): (Duration, Budget),
) -> Result<Result<PerformedSession, FlowExit>, BuildError> {
    let time = limits.time.map_or(time, |limit| limit.min(time));
    let began = clock.now();
    let sessions = builder.build_sessions()?;
    let opened = tokio::select! {
        biased;
        opened = sessions.open(start, control) => opened,
        () = clock.sleep(time) => return Ok(Err(timed_out())),
    };
    let mut open = match opened {
        Ok(open) => open,
        Err(not_opened) => return Ok(Err(not_opened.report().exit.clone())),
    };
    let left = time.saturating_sub(elapsed_since(began, clock));
    if left.is_zero() {
        close(open, timed_out());
        return Ok(Err(timed_out()));
    }
    let order = order(open.capabilities()).budget(limits.with_time(left));
    let performed = open.run(order).await;
    close(open, FlowExit::from(&performed.result.end));
    Ok(Ok(performed))
}

fn timed_out() -> FlowExit {
    FlowExit::BudgetExceeded {
        budget: BudgetKind::Time,
    }
}

/// Returns the time since `began`; zero if the clock was set back.
pub(super) fn elapsed_since(began: Timestamp, clock: &dyn Clock) -> Duration {
    let taken = clock.now().duration_since(began);
    Duration::try_from(taken).unwrap_or_default()
}

fn close(open: OpenSessions, exit: FlowExit) {
    open.close(exit, json!({}));
}
