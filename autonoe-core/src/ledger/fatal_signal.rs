//! Signal that stops a session when the ledger or the journal of its run is lost.

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
    why: Arc<OnceLock<Failure>>,
    happened: CancellationToken,
}

impl FatalSignal {
    /// Raises the signal. The first reason is kept.
    pub(crate) fn raise(&self, why: Failure) {
        let _ = self.why.set(why);
        self.happened.cancel();
    }

    /// Waits for the signal.
    pub(crate) async fn raised(&self) {
        self.happened.cancelled().await;
    }

    /// Returns the reason, if the signal was raised.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.why.get()
    }
}
