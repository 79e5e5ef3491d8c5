//! A flow under way.

use std::fmt;

use futures::{FutureExt, future};
use jiff::Timestamp;
use serde_json::Value;

use super::messages::Messages;
use super::transcript::Transcript;
use super::{FlowStart, PerformedSession, RecordedFlow, SessionOrder};
use crate::domain::quota::{between, later};
use crate::domain::{
    Budget, CostTotal, Epoch, Failure, LedgerView, RunId, SessionEnd, Spent, TokenUsage,
};
use crate::port::{Capabilities, Events, RepositoryErrorKind};
use crate::run::drive::LAST_LOOK;
use crate::run::prepare::caught;
use crate::run::setting::Setting;
use crate::run::task::{Stand, Task};
use crate::run::{Durability, JournalLine};
use crate::tools::LedgerBook;

/// A flow under way: runs the sessions that the caller orders, one at a time.
///
/// See [`Sessions`](super::Sessions). Dropped without [`close`](Self::close), the flow is
/// interrupted: its journal has no end, and it can be resumed.
pub struct OpenSessions {
    pub(super) setting: Setting,
    pub(super) start: FlowStart,
    pub(super) started: Timestamp,
    pub(super) deadline: Option<Timestamp>,
    pub(super) capabilities: Capabilities,
    pub(super) book: Option<LedgerBook>,
    pub(super) messages: Messages,
    /// The number of the last session.
    pub(super) sessions: u32,
    /// The session that was lost with the process of the flow, and comes again under its number.
    lost_session: Option<u32>,
    /// Whether a session was begun and its end not awaited.
    is_under_way: bool,
    pub(super) cost: CostTotal,
    pub(super) tokens: TokenUsage,
}

impl OpenSessions {
    /// Takes up a flow, before anything is known of what it stands on.
    pub(super) fn unprepared(setting: Setting, recorded: RecordedFlow) -> Self {
        Self {
            messages: Messages::new(setting.events.clone()),
            setting,
            start: recorded.start,
            started: recorded.started_at,
            deadline: None,
            capabilities: Capabilities::new(""),
            book: None,
            sessions: recorded.sessions,
            lost_session: recorded.session_under_way,
            is_under_way: false,
            cost: recorded.cost,
            tokens: recorded.tokens,
        }
    }

    /// Returns the run that all sessions belong to.
    pub fn run_id(&self) -> &RunId {
        &self.setting.run
    }

    /// Returns what the backend can do.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Returns where the flow itself tells what it does: the root of the tree of events.
    pub fn events(&self) -> &Events {
        &self.setting.events
    }

    /// Returns the ledger, if the builder was given a repository.
    pub fn book(&self) -> Option<&LedgerBook> {
        self.book.as_ref()
    }

    /// Returns who writes to the ledger.
    pub fn epoch(&self) -> Epoch {
        self.book
            .as_ref()
            .map(LedgerBook::epoch)
            .unwrap_or_default()
    }

    /// Returns the numbers of the ledger now; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The ledger cannot be read, or somebody else has taken it over.
    pub async fn ledger(&self) -> Result<Option<LedgerView>, Failure> {
        let Some(book) = &self.book else {
            return Ok(None);
        };
        let read = async {
            let state = book.read().await.map_err(|error| Failure::from(&error))?;
            Ok(state.map(|state| state.view()))
        };
        caught(read).await
    }

    /// Returns what was spent so far, also before an interruption of the flow.
    pub fn spent(&self) -> Spent {
        Spent {
            cost: self.cost,
            tokens: self.tokens,
            time: between(self.started, self.setting.now()),
        }
    }

    /// Tells whether the last session was cut off: nobody knows what it cost, and
    /// [`spent`](Self::spent) has no part for it yet.
    pub fn is_cut_off(&self) -> bool {
        self.is_under_way
    }

    /// Returns what is left of the builder's budget.
    pub fn budget_left(&self) -> Budget {
        self.setting.parts.limits.budget.remaining(&self.spent())
    }

    /// Writes down that the flow took note of something.
    ///
    /// A resumed flow gets these facts back, in order, as
    /// [`RecordedFlow::facts`]. Those after which nothing may be repeated are for
    /// [`Durability::Synced`].
    ///
    /// # Errors
    ///
    /// The journal cannot be written. The flow should end: it could not be gone on with.
    pub fn note(&self, fact: Value, durability: Durability) -> Result<(), Failure> {
        self.write_down(&JournalLine::FlowFact { fact }, durability)
    }

    /// Runs the session that is ordered, from its prompt to the disposal of its client.
    ///
    /// It never fails: [`SessionResult::end`](crate::SessionResult::end) says how it ended. When
    /// the flow was paused, it waits until it is resumed. When the flow was cancelled or its budget
    /// is spent, nothing begins. What persons said since the last session is part of the prompt.
    ///
    /// Who drops the future cuts the session off; nobody knows then what it cost.
    pub async fn run(&mut self, order: SessionOrder) -> PerformedSession {
        let number = self.lost_session.unwrap_or(self.sessions + 1);
        if let Err(invalid) = order.check_values() {
            let error = Failure::from(&invalid);
            return PerformedSession::not_begun(number, SessionEnd::Failed { error });
        }
        if let Err(end) = self.may_begin().await {
            return PerformedSession::not_begun(number, end);
        }
        let started = JournalLine::SessionStarted {
            number,
            instruction: order.name.clone(),
        };
        if let Err(error) = self.write_down(&started, Durability::Written) {
            return PerformedSession::not_begun(number, SessionEnd::Failed { error });
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
        if let Err(error) = self.write_down(&ended, Durability::Written) {
            performed.result.end = SessionEnd::Failed { error };
        }
        performed
    }

    async fn perform(&mut self, number: u32, order: SessionOrder) -> PerformedSession {
        let now = self.setting.now();
        let budget = tighter(self.budget_left(), order.budget);
        let own_deadline = order.budget.time.map(|time| later(now, time));
        let messages = self.messages.hand_out();
        let task = Task {
            number,
            instruction: &order.name,
            prompt: future::ready(Ok(order.prompt)).boxed(),
            messages: &messages,
            ledger_tools: order.ledger_tools.as_ref(),
            budget,
            deadline: least(self.deadline, own_deadline),
            extras: &order.extras,
        };
        let stand = Stand {
            capabilities: &self.capabilities,
            book: self.book.as_ref(),
        };
        let mut transcript = Transcript::default();
        let mut heard = |event: &_| transcript.note(event);
        let mut ended = self
            .setting
            .session(stand, task, &mut self.messages, &mut heard)
            .await;
        if let Some(error) = self.foreign_change().await {
            ended.result.end = SessionEnd::Failed { error };
        }
        let result = ended.emit(None);
        self.messages.session_over(&result);
        self.cost.merge(result.cost);
        self.tokens += result.tokens;
        transcript.into_performed(number, result)
    }

    /// Looks at the ledger after a session, so that a foreign change is found before anybody
    /// decides by it. Returns the error if the flow must not continue.
    async fn foreign_change(&self) -> Option<Failure> {
        let read = async {
            let read = self.book.as_ref()?.read().await;
            let error = read.err()?;
            let is_foreign = error.kind() == RepositoryErrorKind::ForeignChange;
            is_foreign.then(|| Failure::from(&error))
        };
        let cancelled_for_long = async {
            self.setting.control.cancelled().await;
            self.setting.parts.clock.sleep(LAST_LOOK).await;
        };
        tokio::select! {
            biased;
            error = caught(read.map(Ok)) => error.unwrap_or_default(),
            () = cancelled_for_long => None,
        }
    }

    pub(super) fn write_down(
        &self,
        line: &JournalLine,
        durability: Durability,
    ) -> Result<(), Failure> {
        let written = self.setting.write_down(line, durability);
        written.map_err(|error| Failure::from(&error))
    }
}

/// Returns what both budgets leave.
pub(super) fn tighter(one: Budget, other: Budget) -> Budget {
    Budget {
        cost_usd: least(one.cost_usd, other.cost_usd),
        tokens: least(one.tokens, other.tokens),
        time: least(one.time, other.time),
    }
}

/// Returns the lesser of two limits of which either may be missing.
pub(super) fn least<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

impl fmt::Debug for OpenSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenSessions")
            .field("run", &self.setting.run)
            .field("flow", &self.start.flow)
            .field("sessions", &self.sessions)
            .finish_non_exhaustive()
    }
}
