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
    watch_for(move || {
        presenter.warn("stopping; interrupt again to end at once");
        control.cancel();
    })
    .await;
}

/// Does `first` at the first signal that asks to stop, and ends the program at the second.
pub(super) async fn watch_for(first: impl FnOnce()) {
    let Some(mut signals) = Signals::listen() else {
        return;
    };
    signals.next().await;
    first();
    signals.next().await;
    at_once();
}

/// Waits for a signal that asks to stop.
pub(super) async fn asked() {
    asked_from_now().await;
}

/// The same, listening before it is waited for.
pub(super) fn asked_from_now() -> impl Future<Output = ()> {
    let signals = Signals::listen();
    async {
        match signals {
            Some(mut signals) => signals.next().await,
            None => std::future::pending().await,
        }
    }
}

/// Waits for `SIGTERM` or `SIGHUP`, listening before it is waited for.
pub(super) fn terminated_from_now() -> impl Future<Output = ()> {
    let signals = Signals::listen();
    async {
        match signals {
            Some(mut signals) => signals.next_but_interrupts().await,
            None => std::future::pending().await,
        }
    }
}

/// Ends the program at once, and kills what it has started.
pub(super) fn at_once() {
    autonoe_process::kill_everything(AT_ONCE);
    #[expect(clippy::exit, reason = "a person asked twice")]
    std::process::exit(INTERRUPTED.into());
}

/// The signals that ask to stop.
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
            tracing::warn!("signals cannot be watched; an interrupt ends the program at once");
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

    async fn next_but_interrupts(&mut self) {
        let [_, terminate, hang_up] = &mut self.0;
        tokio::select! {
            _ = terminate.recv() => {}
            _ = hang_up.recv() => {}
        }
    }
}
