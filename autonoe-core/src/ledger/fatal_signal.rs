//! [`FatalSignal`], raised when the ledger or the journal of a run is permanently lost.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::event::Failure;

/// One-time signal that the ledger or the journal of a run is permanently lost.
///
/// An agent that updates a lost ledger gets an error, but might continue to work for hours. All
/// further work would be lost, so its session is stopped.
///
/// Cheap to clone; clones share the signal.
#[derive(Clone, Debug, Default)]
pub(crate) struct FatalSignal {
    failure: Arc<OnceLock<Failure>>,
    raised_token: CancellationToken,
}

impl FatalSignal {
    /// Raises the signal. The first reason is kept.
    pub(crate) fn raise(&self, failure: Failure) {
        let _ = self.failure.set(failure);
        self.raised_token.cancel();
    }

    /// Waits for the signal.
    pub(crate) async fn raised(&self) {
        self.raised_token.cancelled().await;
    }

    /// Returns the reason, if the signal was raised.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.get()
    }
}
