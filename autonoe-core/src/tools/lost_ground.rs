//! Tells a session that what it works on is not there any more.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

use crate::domain::Failure;

/// Becomes true once, when the ledger or the journal of a run is lost for good.
///
/// An agent gets an error when it marks something in a ledger that is gone, and might work on
/// for hours. What it does from then on is lost, so its session is stopped.
///
/// Cheap to clone; clones become true together.
#[derive(Clone, Debug, Default)]
pub(crate) struct LostGround {
    why: Arc<OnceLock<Failure>>,
    happened: CancellationToken,
}

impl LostGround {
    /// Takes down why it is lost, unless that is known.
    pub(crate) fn lost(&self, why: Failure) {
        let _ = self.why.set(why);
        self.happened.cancel();
    }

    /// Waits until it is lost.
    pub(crate) async fn happened(&self) {
        self.happened.cancelled().await;
    }

    /// Returns why it is lost, if it is.
    pub(crate) fn why(&self) -> Option<&Failure> {
        self.why.get()
    }
}
