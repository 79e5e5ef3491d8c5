//! Members at work, and what becomes of them next.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{Clock, Engine, EngineError, RunId, RunOutcome};
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;

use crate::HarnessId;

/// How long to wait before an engine that failed is asked again.
pub(super) const ASK_AGAIN: Duration = Duration::from_secs(1);

/// The members at work: their ends are waited for, and each has a time by which it must end.
pub(super) struct Watch {
    engine: Arc<dyn Engine>,
    clock: Arc<dyn Clock>,
    ends: FuturesUnordered<BoxFuture<'static, End>>,
    until: HashMap<HarnessId, Timestamp>,
}

/// What a run came to, or that the engine does not know it any more.
pub(super) struct End {
    pub(super) member: HarnessId,
    pub(super) outcome: Result<RunOutcome, EngineError>,
}

impl Watch {
    pub(super) fn new(engine: Arc<dyn Engine>, clock: Arc<dyn Clock>) -> Self {
        Self {
            engine,
            clock,
            ends: FuturesUnordered::new(),
            until: HashMap::new(),
        }
    }

    /// Waits for a member.
    pub(super) fn add(&mut self, member: HarnessId, run: RunId, until: Option<Timestamp>) {
        if let Some(until) = until {
            self.until.insert(member.clone(), until);
        }
        let waiting = end_of(self.engine.clone(), self.clock.clone(), member, run);
        self.ends.push(waiting.boxed());
    }

    /// Sets another time by which a member must end.
    pub(super) fn must_end_by(&mut self, member: &HarnessId, until: Timestamp) {
        self.until.insert(member.clone(), until);
    }

    /// Forgets the time of a member, which has ended or is given up.
    pub(super) fn forget(&mut self, member: &HarnessId) {
        self.until.remove(member);
    }

    /// Returns the members whose time is up.
    pub(super) fn overdue(&self, now: Timestamp) -> Vec<HarnessId> {
        let overdue = self.until.iter().filter(|(_, until)| **until <= now);
        let mut overdue: Vec<_> = overdue.map(|(member, _)| member.clone()).collect();
        overdue.sort();
        overdue
    }

    /// Returns when the next member's time is up, of those that count.
    pub(super) fn next_time(&self, counts: impl Fn(&HarnessId) -> bool) -> Option<Timestamp> {
        let until = self.until.iter().filter(|(member, _)| counts(member));
        until.map(|(_, until)| *until).min()
    }

    /// Gives a member more time, if its time is limited.
    pub(super) fn give_time(&mut self, member: &HarnessId, more: Duration) {
        if let Some(until) = self.until.get_mut(member) {
            *until = until.checked_add(more).unwrap_or(Timestamp::MAX);
        }
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
            outcome => return End { member, outcome },
        }
    }
}
