//! [`OpenSessions`], a flow in progress.

use std::fmt;

use futures::{FutureExt, future};
use jiff::Timestamp;
use serde_json::Value;

use super::messages::Messages;
use super::transcript::Transcript;
use super::{FlowStart, PerformedSession, RecordedFlow, SessionOrder};
use crate::agent::{Budget, BudgetUsage, Capabilities, CostTotal, SessionEnd, TokenUsage};
use crate::event::{Events, Failure, RunEventKind};
use crate::ledger::{LedgerStore, LedgerView, RepositoryErrorKind};
use crate::run::budget_watch::BudgetWatch;
use crate::run::control::Inbox;
use crate::run::prepare::catch_panic;
use crate::run::run_context::RunContext;
use crate::run::session_task::{SessionResources, SessionTask};
use crate::run::{Durability, FlowExit, FlowReport, JournalLine};
use crate::time::timestamp::{between, saturating_add};
use crate::time::{Epoch, RunId};

/// A flow in progress: runs the sessions that the caller orders, one at a time.
///
/// See [`Sessions`](super::Sessions). If it is dropped without [`close`](Self::close), the flow is
/// interrupted: its journal has no end, and it can be resumed.
pub struct OpenSessions {
    pub(super) context: RunContext,
    pub(super) start: FlowStart,
    pub(super) started: Timestamp,
    pub(super) deadline: Option<Timestamp>,
    pub(super) capabilities: Capabilities,
    pub(super) store: Option<LedgerStore>,
    pub(super) messages: Messages,
    /// The number of the last session.
    pub(super) sessions: u32,
    /// The session that was lost with the flow's process. It is run again under its number.
    lost_session: Option<u32>,
    /// Whether a session was started and its end not awaited.
    is_under_way: bool,
    pub(super) cost: CostTotal,
    pub(super) tokens: TokenUsage,
    /// The budget of the flow, whether the caller enforces it or this.
    watched_budget: Budget,
    budget_watch: BudgetWatch,
}

impl OpenSessions {
    /// Creates a flow whose backend is not probed and whose ledger is not taken over yet.
    pub(super) fn unprepared(context: RunContext, recorded: RecordedFlow) -> Self {
        Self {
            messages: Messages::new(context.events.clone()),
            context,
            start: recorded.start,
            started: recorded.started_at,
            deadline: None,
            capabilities: Capabilities::new(""),
            store: None,
            sessions: recorded.sessions,
            lost_session: recorded.running_session,
            is_under_way: false,
            cost: recorded.cost,
            tokens: recorded.tokens,
            watched_budget: Budget::default(),
            budget_watch: BudgetWatch::default(),
        }
    }

    /// Reports from now on when a part of `budget` is nearly spent.
    pub(super) fn watch_budget(&mut self, budget: Budget) {
        self.watched_budget = budget;
        self.budget_watch = BudgetWatch::resumed(&budget, &self.spent());
    }

    /// Reports the parts of the budget that are nearly spent.
    pub(super) fn check_budget(&mut self) {
        let (budget, spent) = (self.watched_budget, self.spent());
        self.budget_watch
            .check(&budget, &spent, &self.context.events);
    }

    /// Returns the run that all sessions belong to.
    pub fn run_id(&self) -> &RunId {
        &self.context.run
    }

    /// Returns the backend's capabilities.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns the emitter of the flow's own events: the root of the span tree.
    pub fn events(&self) -> &Events {
        &self.context.events
    }

    /// Returns the ledger, if the builder was given a repository.
    pub fn ledger_store(&self) -> Option<&LedgerStore> {
        self.store.as_ref()
    }

    /// Returns the epoch under which the flow writes to the ledger.
    pub fn epoch(&self) -> Epoch {
        self.store
            .as_ref()
            .map(LedgerStore::epoch)
            .unwrap_or_default()
    }

    /// Returns the current counts of the ledger; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, or another writer has taken it over.
    pub async fn ledger(&self) -> Result<Option<LedgerView>, Failure> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        let read = async {
            let state = store.read().await.map_err(|error| Failure::from(&error))?;
            Ok(state.map(|state| state.view()))
        };
        catch_panic(read).await
    }

    /// Returns the usage so far, including the time before an interruption of the flow.
    pub fn spent(&self) -> BudgetUsage {
        BudgetUsage {
            cost: self.cost,
            tokens: self.tokens,
            time: between(self.started, self.context.now()),
        }
    }

    /// Returns whether the last session was cut off. Its cost is unknown, and
    /// [`spent`](Self::spent) does not include it yet.
    pub fn last_session_was_cut_off(&self) -> bool {
        self.is_under_way
    }

    /// Returns the rest of the builder's budget.
    pub fn budget_left(&self) -> Budget {
        self.context
            .parts
            .settings
            .limits
            .budget
            .remaining(&self.spent())
    }

    /// Records a fact of the flow in the journal.
    ///
    /// A resumed flow gets its facts back, in order, as [`RecordedFlow::facts`]. Use
    /// [`Durability::Synced`] for facts after which nothing may be repeated.
    ///
    /// # Errors
    ///
    /// The journal cannot be written. The flow should end, because it could not be resumed.
    pub fn record_fact(&self, fact: Value, durability: Durability) -> Result<(), Failure> {
        self.record(&JournalLine::FlowFact { fact }, durability)
    }

    /// Runs the ordered session, from its prompt to the disposal of its client.
    ///
    /// It never fails: [`SessionReport::end`](crate::agent::SessionReport::end) contains the end.
    /// If the flow is paused, the session waits until the flow is resumed. If the flow is cancelled
    /// or its budget is spent, no session starts. The operator's messages since the last session
    /// are part of the prompt.
    ///
    /// Dropping the future cuts the session off; its cost is unknown then.
    pub async fn run(&mut self, order: SessionOrder) -> PerformedSession {
        let number = self.lost_session.unwrap_or(self.sessions + 1);
        if let Err(invalid) = order.check_values() {
            let error = Failure::from(&invalid);
            return PerformedSession::not_started(number, SessionEnd::Failed { error });
        }
        if let Err(end) = self.wait_until_ready().await {
            return PerformedSession::not_started(number, end);
        }
        let started = JournalLine::SessionStarted {
            number,
            instruction: order.name.clone(),
        };
        if let Err(error) = self.record(&started, Durability::Written) {
            return PerformedSession::not_started(number, SessionEnd::Failed { error });
        }
        self.lost_session = None;
        self.sessions = number;
        if std::mem::replace(&mut self.is_under_way, true) {
            self.cost.merge(CostTotal::unknown());
        }
        let mut performed = self.perform(number, order).await;
        self.is_under_way = false;
        let ended = JournalLine::SessionEnded {
            number,
            result: performed.result.clone(),
        };
        if let Err(error) = self.record(&ended, Durability::Written) {
            performed.result.end = SessionEnd::Failed { error };
        }
        self.check_budget();
        performed
    }

    async fn perform(&mut self, number: u32, order: SessionOrder) -> PerformedSession {
        let now = self.context.now();
        let budget = min_budget(self.budget_left(), order.budget);
        let own_deadline = order.budget.time.map(|time| saturating_add(now, time));
        let messages = self.messages.take_for_session();
        let task = SessionTask {
            number,
            instruction: &order.name,
            prompt: future::ready(Ok(order.prompt)).boxed(),
            messages: &messages,
            ledger_tools: order.ledger_tools.as_ref(),
            budget,
            deadline: min_option(self.deadline, own_deadline),
            overrides: &order.overrides,
        };
        let resources = SessionResources {
            capabilities: &self.capabilities,
            store: self.store.as_ref(),
        };
        let mut transcript = Transcript::default();
        let mut on_event = |event: &_| transcript.note(event);
        let mut ended = self
            .context
            .session(resources, task, &mut self.messages, &mut on_event)
            .await;
        if let Some(error) = self.foreign_change().await {
            ended.result.end = SessionEnd::Failed { error };
        }
        let result = ended.emit(None);
        self.messages.session_ended(&result);
        self.cost.merge(result.cost);
        self.tokens += result.tokens;
        transcript.into_performed(number, result)
    }

    /// Reads the ledger after a session, so that a foreign change is found before the caller
    /// decides by it. Returns the error if the flow must not continue.
    async fn foreign_change(&self) -> Option<Failure> {
        let read = async {
            let read = self.store.as_ref()?.read().await;
            let error = read.err()?;
            let is_foreign = error.kind() == RepositoryErrorKind::ForeignChange;
            is_foreign.then(|| Failure::from(&error))
        };
        tokio::select! {
            biased;
            error = catch_panic(read.map(Ok)) => error.unwrap_or_default(),
            () = self.context.cancel_grace_period() => None,
        }
    }

    pub(super) fn record(&self, line: &JournalLine, durability: Durability) -> Result<(), Failure> {
        let written = self.context.record(line, durability);
        written.map_err(|error| Failure::from(&error))
    }
}

/// Returns the tighter of two budgets, limit by limit.
pub(super) fn min_budget(one: Budget, other: Budget) -> Budget {
    Budget {
        cost_usd: min_option(one.cost_usd, other.cost_usd),
        tokens: min_option(one.tokens, other.tokens),
        time: min_option(one.time, other.time),
    }
}

/// Returns the lower of two optional limits.
pub(super) fn min_option<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl fmt::Debug for OpenSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSessions")
            .field("run", &self.context.run)
            .field("flow", &self.start.flow)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}

impl OpenSessions {
    /// Ends the flow: records its end, notifies observers, and returns the report.
    ///
    /// `result` is the flow's own result, in its own format, for the journal.
    pub fn close(self, exit: FlowExit, result: Value) -> FlowReport {
        let context = self.context.clone();
        self.finish(exit, |report| {
            let ended = JournalLine::FlowEnded {
                report: report.clone(),
                result,
            };
            if let Err(error) = context.record(&ended, Durability::Synced) {
                context.warn(&format!(
                    "the end of the flow is not in the journal: {}",
                    Failure::from(&error)
                ));
            }
        })
    }

    /// Leaves the flow interrupted: notifies observers and returns the report, but records nothing.
    /// The flow can be resumed.
    pub fn interrupt(self, exit: FlowExit) -> FlowReport {
        self.report(exit)
    }

    /// Returns the report of a flow that could not start. Nothing is recorded, so the flow can be
    /// tried again.
    pub(super) fn report(self, exit: FlowExit) -> FlowReport {
        self.finish(exit, |_| {})
    }

    fn finish(mut self, exit: FlowExit, write_down: impl FnOnce(&FlowReport)) -> FlowReport {
        let context = self.context.clone();
        while let Some(request) = context.control.try_next_request() {
            self.messages.receive(request);
        }
        tracing::info!(run = %context.run, exit = exit.code(), "flow ended");
        if let FlowExit::BudgetExceeded { budget } = exit {
            context.events.emit(RunEventKind::BudgetSpent { budget });
        }
        let spent = self.spent();
        let report = FlowReport {
            run: context.run.clone(),
            flow: self.start.flow,
            exit,
            sessions: self.sessions,
            elapsed: spent.time,
            cost: spent.cost,
            tokens: spent.tokens,
            undelivered_messages: self.messages.undelivered(),
        };
        write_down(&report);
        context
            .events
            .emit(RunEventKind::FlowEnded { report: &report });
        // If several flows share one control, the next flow delivers the messages.
        self.messages.return_to(&context.control);
        report
    }
}
