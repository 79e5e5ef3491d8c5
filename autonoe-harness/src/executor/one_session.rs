//! One session, from the look at its backend to its end.

use std::time::Duration;

use autonoe_core::{
    Budget, BudgetKind, BuildError, Capabilities, Clock, FlowExit, FlowStart, OpenSessions,
    PerformedSession, RunControl, SessionOrder, SessionRunnerBuilder,
};
use jiff::Timestamp;
use serde_json::json;

/// Runs one session, from the look at its backend to its end, in at most `time` and within `limits`.
/// `order` makes its order from what the backend can do.
///
/// # Errors
///
/// It did not begin.
pub(super) async fn one_session(
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
        () = clock.sleep(time) => return Ok(Err(time_is_up())),
    };
    let mut open = match opened {
        Ok(open) => open,
        Err(not_opened) => return Ok(Err(not_opened.report().exit.clone())),
    };
    let left = time.saturating_sub(since(began, clock));
    if left.is_zero() {
        close(open, time_is_up());
        return Ok(Err(time_is_up()));
    }
    let order = order(open.capabilities()).budget(limits.with_time(left));
    let performed = open.run(order).await;
    close(open, FlowExit::from(&performed.result.end));
    Ok(Ok(performed))
}

fn time_is_up() -> FlowExit {
    FlowExit::BudgetExceeded {
        budget: BudgetKind::Time,
    }
}

/// Returns the time since `began`; none if the clock was set back.
pub(super) fn since(began: Timestamp, clock: &dyn Clock) -> Duration {
    let taken = clock.now().duration_since(began);
    Duration::try_from(taken).unwrap_or_default()
}

fn close(open: OpenSessions, exit: FlowExit) {
    open.close(exit, json!({}));
}
