//! Handles the signals that stop a command.

use std::time::Duration;

use autonoe_app::exit_code::INTERRUPTED;
use autonoe_core::RunControl;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::present::Presenter;

/// Time limit for killing child processes.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// Watches for stop signals while a run is active.
///
/// The first signal stops the run gracefully: its session is closed and the report is printed. The
/// second one kills all child processes and exits immediately.
pub(super) async fn watch(control: RunControl, presenter: std::sync::Arc<Presenter>) {
    watch_for(move || {
        presenter.warn("stopping; interrupt again to exit immediately");
        control.cancel();
    })
    .await;
}

/// Calls `first` at the first stop signal, and exits at the second.
pub(super) async fn watch_for(first: impl FnOnce()) {
    let Some(mut signals) = Signals::listen() else {
        return;
    };
    signals.next().await;
    first();
    signals.next().await;
    exit_immediately();
}

/// Waits for a stop signal.
pub(super) async fn wait_for_stop() {
    listen_for_stop().await;
}

/// Starts listening immediately, and returns a future that waits for a stop signal.
pub(super) fn listen_for_stop() -> impl Future<Output = ()> {
    listen(async |signals| signals.next().await)
}

/// Starts listening immediately, and returns a future that waits for `SIGTERM` or `SIGHUP`.
pub(super) fn listen_for_termination() -> impl Future<Output = ()> {
    listen(async |signals| signals.next_except_interrupt().await)
}

fn listen(wait: impl AsyncFnOnce(&mut Signals)) -> impl Future<Output = ()> {
    let signals = Signals::listen();
    async {
        match signals {
            Some(mut signals) => wait(&mut signals).await,
            None => std::future::pending().await,
        }
    }
}

/// Kills all child processes and exits immediately.
pub(super) fn exit_immediately() {
    autonoe_process::kill_all_children(KILL_TIMEOUT);
    #[expect(clippy::exit, reason = "the user interrupted twice")]
    std::process::exit(INTERRUPTED.into());
}

/// The signals that stop a command: `SIGINT`, `SIGTERM` and `SIGHUP`.
struct Signals([Signal; 3]);

impl Signals {
    fn listen() -> Option<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let signals: Result<Vec<Signal>, _> = kinds.into_iter().map(signal).collect();
        let signals = signals.ok().and_then(|signals| signals.try_into().ok());
        if signals.is_none() {
            tracing::warn!("signals cannot be watched; an interrupt ends the program immediately");
        }
        signals.map(Self)
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hang_up] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }

    async fn next_except_interrupt(&mut self) {
        let [_, terminate, hang_up] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}
