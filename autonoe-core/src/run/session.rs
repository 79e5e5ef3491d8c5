//! One query on one client.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::session_tally::SessionTally;
use crate::domain::quota::{between, later};
use crate::domain::{
    Budget, BudgetKind, Failure, InvalidValue, SessionEnd, SessionResult, StreamEvent,
};
use crate::port::{AgentClient, Clock, Events, MessageStream, Prompt, SignsOfLife};

/// Runs one query on one client, from the prompt to the disposal.
///
/// It never fails: whatever the client does, a [`SessionResult`] says how it
/// ended. A stream without an `End`, an error, a panic and a silence that
/// lasts too long are failures, never successes. The client is always disposed
/// of, and never waited for longer than its limit.
///
/// ```
/// use autonoe_core::{AgentClient, Session, SessionLimits, SystemClock};
/// use tokio_util::sync::CancellationToken;
///
/// async fn ask(client: Box<dyn AgentClient>) {
///     let session = Session::new(SystemClock, SessionLimits::default());
///     let mut events = 0;
///
///     let result = session
///         .run(client, "Say hello.".into(), &CancellationToken::new(), &mut |_| events += 1)
///         .await;
///
///     println!("{events} events, {:?} after {:?}", result.end, result.duration);
/// }
/// ```
#[derive(Clone)]
pub struct Session {
    clock: Arc<dyn Clock>,
    limits: SessionLimits,
    over: CancellationToken,
    signs: Arc<SignsOfLife>,
}

/// Events that are taken although the budget is spent, because they were there already.
const LAST_WORDS: usize = 64;

/// How much longer than asked a timer may take before the machine must have been asleep.
const OVERSLEPT: Duration = Duration::from_secs(30);

/// The limits that a session keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// How long an agent may say nothing before its session is ended as an error.
    pub idle: Duration,
    /// How long the disposal of a client may take before it is left alone.
    pub dispose: Duration,
    /// What may be spent; the session is stopped when it is.
    pub budget: Budget,
}

impl Default for SessionLimits {
    /// Half an hour of silence (a long build says nothing), half a minute for
    /// the disposal, and no budget.
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30 * 60),
            dispose: Duration::from_secs(30),
            budget: Budget::default(),
        }
    }
}

impl SessionLimits {
    /// Sets how long an agent may say nothing.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// Sets how long the disposal of a client may take.
    #[must_use]
    pub fn with_dispose(mut self, dispose: Duration) -> Self {
        self.dispose = dispose;
        self
    }

    /// Sets what may be spent.
    #[must_use]
    pub fn with_budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Refuses limits with which no session could do anything.
    fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_time("with_idle(0)", self.idle)?;
        InvalidValue::check_time("with_dispose(0)", self.dispose)
    }
}

impl Session {
    /// Makes the service; one can run any number of sessions.
    pub fn new(clock: impl Clock + 'static, limits: SessionLimits) -> Self {
        Self {
            clock: Arc::new(clock),
            limits,
            over: CancellationToken::new(),
            signs: Arc::default(),
        }
    }

    /// Sets what is cancelled as soon as the conversation is over, before the disposal.
    ///
    /// Give it to the session's [`Gate`](crate::Gate::until) and
    /// [`Toolbox`](crate::Toolbox::until), so that an agent that outlives its
    /// session can do nothing any more.
    #[must_use]
    pub fn closing(mut self, over: CancellationToken) -> Self {
        self.over = over;
        self
    }

    /// Takes what is told through `events` for signs of life, beside the stream of the client.
    ///
    /// Give it the [events of the session](crate::SessionSpec::events): a model that answers for
    /// an hour tells its pieces there, and its answer in the stream only when it is whole. Both
    /// must go by the same clock.
    #[must_use]
    pub fn hearing(mut self, events: &Events) -> Self {
        self.signs = events.signs().clone();
        self
    }

    /// Sends `prompt`, hands every event to `on_event`, disposes of the client.
    ///
    /// When `cancelled` is, the session is stopped and disposed of at once. With a limit of zero it
    /// fails as `invalid_value`.
    pub async fn run(
        &self,
        mut client: Box<dyn AgentClient>,
        prompt: Prompt,
        cancelled: &CancellationToken,
        on_event: &mut (dyn FnMut(&StreamEvent) + Send),
    ) -> SessionResult {
        // Also when this future is dropped in the middle.
        let over = self.over.clone().drop_guard();
        let started = self.clock.now();
        let mut tally = SessionTally::default();
        if cancelled.is_cancelled() {
            drop(over);
            self.dispose(client).await;
            return SessionResult::new(SessionEnd::Cancelled);
        }
        if let Err(invalid) = self.limits.check_values() {
            drop(over);
            self.dispose(client).await;
            let error = Failure::from(&invalid);
            return SessionResult::new(SessionEnd::Failed { error });
        }
        let end = self
            .converse(
                client.as_mut(),
                prompt,
                cancelled,
                started,
                &mut tally,
                on_event,
            )
            .await;
        drop(over);
        let duration = between(started, self.clock.now());
        self.dispose(client).await;
        tally.into_result(end, duration)
    }

    async fn converse(
        &self,
        client: &mut dyn AgentClient,
        prompt: Prompt,
        cancelled: &CancellationToken,
        started: Timestamp,
        tally: &mut SessionTally,
        on_event: &mut (dyn FnMut(&StreamEvent) + Send),
    ) -> SessionEnd {
        let opened = std::panic::catch_unwind(AssertUnwindSafe(|| client.query(prompt)));
        let Ok(mut stream) = opened else {
            return panicked();
        };
        let deadline = self.limits.budget.time.map(|time| later(started, time));
        let mut last_sign = started;
        // One timer serves the whole session: when it fires, it is looked
        // again whether anything has come in the meantime.
        let mut set_at = started;
        let mut asked = self.next_look(started, last_sign, deadline);
        let mut timer = self.clock.sleep(asked);
        loop {
            // A backend whose stream is always ready must not keep the thread to itself.
            tokio::task::coop::consume_budget().await;
            tokio::select! {
                biased;
                () = cancelled.cancelled() => return SessionEnd::Cancelled,
                item = next_item(&mut stream) => {
                    let event = match item {
                        Ok(event) => event,
                        Err(end) => return end,
                    };
                    last_sign = self.clock.now();
                    tally.note(&event);
                    on_event(&event);
                    if let StreamEvent::End { outcome, .. } = event {
                        // What a backend says after `End` is about its
                        // shutdown, not the work.
                        return SessionEnd::Outcome(outcome.with_short_texts());
                    }
                    if let Some(budget) = tally.spent(&self.limits.budget) {
                        last_words(&mut stream, tally, on_event);
                        return SessionEnd::BudgetSpent { budget };
                    }
                    // The timer waits its turn behind a stream that is always ready.
                    if deadline.is_some_and(|deadline| last_sign >= deadline) {
                        return SessionEnd::BudgetSpent { budget: BudgetKind::Time };
                    }
                }
                () = &mut timer => {
                    let now = self.clock.now();
                    if deadline.is_some_and(|deadline| now >= deadline) {
                        return SessionEnd::BudgetSpent { budget: BudgetKind::Time };
                    }
                    if between(set_at, now) > asked + OVERSLEPT {
                        // The machine was asleep, and the agent with it.
                        last_sign = now;
                    }
                    last_sign = self.signs.last().unwrap_or(last_sign).max(last_sign);
                    if between(last_sign, now) >= self.limits.idle {
                        return idle(self.limits.idle);
                    }
                    set_at = now;
                    asked = self.next_look(now, last_sign, deadline);
                    timer = self.clock.sleep(asked);
                }
            }
        }
    }

    /// Returns how long until the session could be idle for too long or out of time.
    fn next_look(
        &self,
        now: Timestamp,
        last_sign: Timestamp,
        deadline: Option<Timestamp>,
    ) -> Duration {
        let until_idle = self.limits.idle.saturating_sub(between(last_sign, now));
        match deadline {
            Some(deadline) => until_idle.min(between(now, deadline)),
            None => until_idle,
        }
    }

    async fn dispose(&self, client: Box<dyn AgentClient>) {
        let dispose = AssertUnwindSafe(async move { client.dispose().await }).catch_unwind();
        tokio::select! {
            biased;
            disposed = dispose => match disposed {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "disposing of an agent client failed"),
                Err(_panic) => tracing::error!("disposing of an agent client panicked"),
            },
            () = self.clock.sleep(self.limits.dispose) => {
                tracing::error!("disposing of an agent client took too long; it is left alone");
            }
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// Returns the next event, or how the session ended without one.
async fn next_item(stream: &mut MessageStream<'_>) -> Result<StreamEvent, SessionEnd> {
    match AssertUnwindSafe(stream.next()).catch_unwind().await {
        Ok(Some(Ok(event))) => Ok(event),
        Ok(Some(Err(error))) => Err(SessionEnd::Failed {
            error: Failure::from(&error),
        }),
        Ok(None) => Err(failed(
            "no_end",
            "the agent's stream ended without an outcome",
        )),
        Err(_panic) => Err(panicked()),
    }
}

/// Takes the events that are there already, so that an `End` with its cost is not lost.
fn last_words(
    stream: &mut MessageStream<'_>,
    tally: &mut SessionTally,
    on_event: &mut (dyn FnMut(&StreamEvent) + Send),
) {
    for _ in 0..LAST_WORDS {
        let Some(Ok(event)) = next_item(stream).now_or_never() else {
            return;
        };
        tally.note(&event);
        on_event(&event);
        if matches!(event, StreamEvent::End { .. }) {
            return;
        }
    }
}

fn idle(limit: Duration) -> SessionEnd {
    let limit = crate::domain::format_duration(limit);
    failed(
        "idle",
        format!("the agent gave no sign of life for {limit}"),
    )
}

fn panicked() -> SessionEnd {
    failed("backend_panicked", "the backend panicked")
}

fn failed(code: &str, message: impl Into<String>) -> SessionEnd {
    SessionEnd::Failed {
        error: Failure::retryable(code, message),
    }
}
