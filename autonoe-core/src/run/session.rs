//! [`Session`], which runs one query on one client.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::agent::{
    Activity, AgentClient, Budget, BudgetKind, BudgetUsage, CostTotal, CostUsd, MessageStream,
    Prompt, SessionEnd, SessionReport, StreamEvent, TokenUsage,
};
use crate::event::{Events, Failure, Heartbeat, InvalidValue};
use crate::text::MAX_TEXT_LEN;
use crate::time::timestamp::{between, saturating_add};
use crate::time::{AgentSessionId, Clock};

/// Runs one query on one client, from the prompt to the disposal.
///
/// It never fails: whatever the client does, the [`SessionReport`] contains its end. A stream
/// without an `End`, an error, a panic and too long a silence are failures, never successes. The
/// client is always disposed of, and the session never waits longer than its limit.
///
/// ```
/// use autonoe_core::run::{Session, SessionLimits};
/// use autonoe_core::time::SystemClock;
/// use autonoe_core::AgentClient;
/// use tokio_util::sync::CancellationToken;
///
/// async fn run_prompt(client: Box<dyn AgentClient>) {
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
    heartbeat: Arc<Heartbeat>,
}

/// The maximum number of already available events that are read after the budget is spent.
const MAX_DRAINED_EVENTS: usize = 64;

/// The delay of a timer beyond which the machine must have been asleep.
const SUSPEND_THRESHOLD: Duration = Duration::from_secs(30);

/// The limits of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Time that an agent may stay silent before its session ends as an error.
    pub idle: Duration,
    /// Time limit for the disposal of a client. Then the session abandons it.
    pub dispose: Duration,
    /// The budget; the session is stopped when it is spent.
    pub budget: Budget,
}

impl Default for SessionLimits {
    /// 30 minutes of silence (a long build prints nothing), 30 seconds for the disposal, and no
    /// budget.
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30 * 60),
            dispose: Duration::from_secs(30),
            budget: Budget::default(),
        }
    }
}

impl SessionLimits {
    /// Refuses limits that would make every session useless.
    fn check_values(&self) -> Result<(), InvalidValue> {
        InvalidValue::check_time("idle(0)", self.idle)?;
        InvalidValue::check_time("dispose(0)", self.dispose)
    }
}

impl Session {
    /// Creates the service, which can run any number of sessions.
    pub fn new(clock: impl Clock + 'static, limits: SessionLimits) -> Self {
        Self {
            clock: Arc::new(clock),
            limits,
            over: CancellationToken::new(),
            heartbeat: Arc::default(),
        }
    }

    /// Sets the token that is cancelled as soon as the conversation is over, before the disposal.
    ///
    /// Pass it to the session's [`Gate`](crate::gate::Gate::with_end_token) and
    /// [`Toolbox`](crate::tool::Toolbox::with_end_token), so that an agent that outlives its session cannot
    /// do anything.
    #[must_use]
    pub fn end_token(mut self, over: CancellationToken) -> Self {
        self.over = over;
        self
    }

    /// Counts `events` as heartbeats of the agent, in addition to the client's stream.
    ///
    /// Pass the [events of the session](crate::SessionSpec::events): a model that answers for an
    /// hour emits partial answers there, and its answer in the stream only when it is complete.
    /// Both must use the same clock.
    #[must_use]
    pub fn heartbeat_events(mut self, events: &Events) -> Self {
        self.heartbeat = events.heartbeat().clone();
        self
    }

    /// Sends `prompt`, passes every event to `on_event`, and disposes of the client.
    ///
    /// When `cancelled` is triggered, the session is stopped and disposed of immediately. With a
    /// limit of zero it fails as `invalid_value`.
    pub async fn run(
        &self,
        mut client: Box<dyn AgentClient>,
        prompt: Prompt,
        cancelled: &CancellationToken,
        on_event: &mut (dyn FnMut(&StreamEvent) + Send),
    ) -> SessionReport {
        // Also cancelled when this future is dropped.
        let over = self.over.clone().drop_guard();
        let started = self.clock.now();
        let mut tally = SessionTally::default();
        if cancelled.is_cancelled() {
            drop(over);
            self.dispose(client).await;
            return SessionReport::new(SessionEnd::Cancelled);
        }
        if let Err(invalid) = self.limits.check_values() {
            drop(over);
            self.dispose(client).await;
            let error = Failure::from(&invalid);
            return SessionReport::new(SessionEnd::Failed { error });
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
        let deadline = self
            .limits
            .budget
            .time
            .map(|time| saturating_add(started, time));
        let mut last_activity = started;
        // One timer serves the whole session: when it fires, the session checks again whether the
        // agent was active in the meantime.
        let mut set_at = started;
        let mut sleep_time = self.time_to_next_check(started, last_activity, deadline);
        let mut timer = self.clock.sleep(sleep_time);
        loop {
            // A backend whose stream is always ready must not monopolise the thread.
            tokio::task::coop::consume_budget().await;
            tokio::select! {
                biased;
                () = cancelled.cancelled() => return SessionEnd::Cancelled,
                item = next_item(&mut stream) => {
                    let event = match item {
                        Ok(event) => event,
                        Err(end) => return end,
                    };
                    last_activity = self.clock.now();
                    tally.note(&event);
                    on_event(&event);
                    if let StreamEvent::End { outcome, .. } = event {
                        // Events after `End` are about the backend's shutdown, not about the work.
                        return SessionEnd::Outcome(outcome.with_short_texts());
                    }
                    if let Some(budget) = tally.spent(&self.limits.budget) {
                        drain_available(&mut stream, tally, on_event);
                        return SessionEnd::BudgetSpent { budget };
                    }
                    // The timer is not polled while the stream is always ready.
                    if deadline.is_some_and(|deadline| last_activity >= deadline) {
                        return SessionEnd::BudgetSpent { budget: BudgetKind::Time };
                    }
                }
                () = &mut timer => {
                    let now = self.clock.now();
                    if deadline.is_some_and(|deadline| now >= deadline) {
                        return SessionEnd::BudgetSpent { budget: BudgetKind::Time };
                    }
                    if between(set_at, now) > sleep_time + SUSPEND_THRESHOLD {
                        // The machine was asleep, and the agent with it.
                        last_activity = now;
                    }
                    last_activity = self.heartbeat.last().unwrap_or(last_activity).max(last_activity);
                    if between(last_activity, now) >= self.limits.idle {
                        return idle(self.limits.idle);
                    }
                    set_at = now;
                    sleep_time = self.time_to_next_check(now, last_activity, deadline);
                    timer = self.clock.sleep(sleep_time);
                }
            }
        }
    }

    /// Returns the time until the session could be idle for too long or out of time.
    fn time_to_next_check(
        &self,
        now: Timestamp,
        last_activity: Timestamp,
        deadline: Option<Timestamp>,
    ) -> Duration {
        let until_idle = self.limits.idle.saturating_sub(between(last_activity, now));
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
                tracing::error!(
                    "disposing of an agent client took too long; the session ends without it"
                );
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

/// Returns the next event, or the end of the session if there is none.
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

/// Reads the events that are already available, so that an `End` with its cost is not lost.
fn drain_available(
    stream: &mut MessageStream<'_>,
    tally: &mut SessionTally,
    on_event: &mut (dyn FnMut(&StreamEvent) + Send),
) {
    for _ in 0..MAX_DRAINED_EVENTS {
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
    let limit = crate::time::format_duration(limit);
    failed("idle", format!("the agent sent nothing for {limit}"))
}

fn panicked() -> SessionEnd {
    failed("backend_panicked", "the backend panicked")
}

fn failed(code: &str, message: impl Into<String>) -> SessionEnd {
    SessionEnd::Failed {
        error: Failure::retryable(code, message),
    }
}

/// The counters of a running session.
#[derive(Debug, Default)]
pub(super) struct SessionTally {
    active: bool,
    agent_session: Option<AgentSessionId>,
    tokens: TokenUsage,
    reported: CostTotal,
    reports: u32,
    final_cost: Option<CostUsd>,
}

impl SessionTally {
    /// Counts `event`.
    pub(super) fn note(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Started { session, .. } => {
                // A longer ID would not fit into the stored result.
                let fits = session.as_str().len() <= MAX_TEXT_LEN;
                self.agent_session = fits.then(|| session.clone());
            }
            StreamEvent::Text { text, .. } => self.active |= !text.trim().is_empty(),
            StreamEvent::ToolInvocation { .. } => self.active = true,
            StreamEvent::Usage { tokens, cost, .. } => {
                self.tokens += *tokens;
                self.reported.add(*cost);
                self.reports += 1;
            }
            StreamEvent::End { cost, .. } => self.final_cost = *cost,
            StreamEvent::Thinking { .. }
            | StreamEvent::ToolResponse { .. }
            | StreamEvent::RateLimit { .. }
            | StreamEvent::Warning { .. } => {}
        }
    }

    /// Returns the limit of `budget` that is reached, ignoring time.
    pub(super) fn spent(&self, budget: &Budget) -> Option<BudgetKind> {
        // Without a report, no spending is known; a session with a budget of zero never starts.
        if self.reports == 0 {
            return None;
        }
        let spent = BudgetUsage {
            cost: self.reported,
            tokens: self.tokens,
            time: Duration::ZERO,
        };
        Budget {
            time: None,
            ..*budget
        }
        .exhausted(&spent)
    }

    /// Returns the totals as the result of the session.
    pub(super) fn into_result(self, end: SessionEnd, duration: Duration) -> SessionReport {
        SessionReport {
            cost: self.cost(&end),
            tokens: self.tokens,
            duration,
            activity: if self.active {
                Activity::Some
            } else {
                Activity::None
            },
            agent_session: self.agent_session,
            ..SessionReport::new(end)
        }
    }

    /// Returns the cost of the final event, or else the sum of the reports. That sum is only a
    /// lower bound if a report had no price or the session was interrupted before its last report.
    fn cost(&self, end: &SessionEnd) -> CostTotal {
        match self.final_cost {
            Some(cost) => CostTotal::known(cost),
            None if self.reports == 0 => CostTotal::unknown(),
            None => match (self.reported.exact(), end) {
                (Some(cost), SessionEnd::Outcome(_)) => CostTotal::known(cost),
                _ => CostTotal::at_least(self.reported.known_usd),
            },
        }
    }
}
