//! The ends of members at work, as an engine tells them.

use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Clock, Engine, EngineError, RunId, RunOutcome};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use crate::HarnessId;

/// How long to wait before an engine that failed is asked again.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(1);

/// What the run of a member came to, or that the engine does not know it any more.
pub(super) type End = (HarnessId, Result<RunOutcome, EngineError>);

/// The members at work, whose ends are waited for.
pub(super) struct Watch {
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    ends: FuturesUnordered<BoxFuture<'static, End>>,
}

impl Watch {
    pub(super) fn new(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Self {
        Self {
            engine,
            clock,
            ends: FuturesUnordered::new(),
        }
    }

    /// Waits for a member.
    pub(super) fn add(&mut self, member: HarnessId, run: RunId) {
        let waiting = end_of(self.engine.clone(), self.clock.clone(), member, run);
        self.ends.push(waiting.boxed());
    }

    /// Waits for ends; returns all that are there. With nobody at work it waits for ever.
    pub(super) async fn next_ends(&mut self) -> Vec<End> {
        let Some(first) = self.ends.next().await else {
            return std::future::pending().await;
        };
        let mut ends = vec![first];
        // What ends at the same time has no order of its own.
        while let Some(Some(end)) = self.ends.next().now_or_never() {
            ends.push(end);
        }
        ends
    }
}

/// Waits for the end of a run. An engine that does not answer is asked again: no answer is no end.
async fn end_of(
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    member: HarnessId,
    run: RunId,
) -> End {
    loop {
        match engine.wait(&run).await {
            Err(error @ EngineError::Failed { .. }) => {
                tracing::warn!(%run, %error, "the engine does not tell the end of a run");
                clock.sleep(ASK_AGAIN).await;
            }
            outcome => return (member, outcome),
        }
    }
}
