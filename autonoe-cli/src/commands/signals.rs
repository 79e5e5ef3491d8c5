//! How a person interrupts a run.

use std::time::Duration;

use autonoe_core::RunControl;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit_code::INTERRUPTED;
use crate::present::Presenter;

/// How long killing may take.
const AT_ONCE: Duration = Duration::from_secs(2);

/// Watches for signals that ask to stop, for as long as the run goes on.
///
/// The first one ends the run in an orderly way: its session is disposed of, and the report
/// is printed. The second one ends the program at once, and kills what it has started.
pub(super) async fn watch(control: RunControl, presenter: std::sync::Arc<Presenter>) {
    let kinds = [
        SignalKind::interrupt(),
        SignalKind::terminate(),
        SignalKind::hangup(),
    ];
    let signals: Result<Vec<Signal>, _> = kinds.into_iter().map(signal).collect();
    let Ok([mut interrupt, mut terminate, mut hang_up]) = signals
        .map_err(|error| error.to_string())
        .and_then(|signals| {
            <[Signal; 3]>::try_from(signals).map_err(|_| "three were asked for".to_owned())
        })
    else {
        tracing::warn!("signals cannot be watched; an interrupt ends the program at once");
        return;
    };
    let mut next = async || {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    };
    next().await;
    presenter.warn("stopping; interrupt again to end at once");
    control.cancel();
    next().await;
    autonoe_process::kill_everything(AT_ONCE);
    #[expect(clippy::exit, reason = "a person asked twice")]
    std::process::exit(INTERRUPTED.into());
}
