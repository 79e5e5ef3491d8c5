//! Lends single sessions.

use std::fmt;
use std::sync::Arc;

use super::open::tighter;
use super::{FlowStart, OpenSessions, RecordedFlow};
use crate::domain::quota::{between, later};
use crate::domain::{
    Budget, BudgetKind, Epoch, Failure, FlowExit, FlowReport, InvalidValue, LedgerState,
};
use crate::port::{DeliverableRepository, RunEventKind};
use crate::run::prepare::NotReady;
use crate::run::runner::Parts;
use crate::run::setting::Setting;
use crate::run::takeover::{MissingLedger, forget_verification};
use crate::run::{Durability, JournalLine, RunControl, take_over, take_over_again, take_over_at};

/// Lends single sessions to a caller that decides by itself which one comes next.
///
/// They are the sessions of a [`SessionRunner`](crate::SessionRunner), with the same guards, gate,
/// hooks, tools, observers, spans, limits of a session, sandbox, lock and journal, and the same
/// refusals before anything begins. Made by
/// [`SessionRunnerBuilder::build_sessions`](crate::SessionRunnerBuilder::build_sessions).
///
/// What the caller makes of them is called a flow here: all its sessions are of one run, in one
/// tree of events, under one budget.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::{FlowExit, FlowStart, RunControl, SessionOrder, SessionRunner};
/// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// # let agents = Arc::new(ScriptedAgents::new([
/// #     SessionScript::new("draft").says("A haiku.").ends(),
/// #     SessionScript::new("review").says("It is good.").ends(),
/// # ]));
/// let sessions = SessionRunner::builder("/srv/project")
///     .agents(agents)
/// #   .clock(VirtualClock::new())
///     .build_sessions()?;
///
/// let mut open = sessions.open(FlowStart::new("haiku"), &RunControl::new()).await?;
/// let draft = open.run(SessionOrder::new("Write a haiku.").named("draft")).await;
/// let review = format!("Review this:\n\n{}", draft.answer);
/// let review = open.run(SessionOrder::new(review).named("review")).await;
/// let report = open.close(FlowExit::Completed, json!({"review": review.answer}));
///
/// assert_eq!(review.answer, "It is good.");
/// assert_eq!(report.sessions, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct Sessions {
    parts: Arc<Parts>,
    repository: Option<Arc<dyn DeliverableRepository>>,
    /// What the caller keeps to by itself.
    kept: Budget,
}

impl Sessions {
    pub(in crate::run) fn new(
        parts: Arc<Parts>,
        repository: Option<Arc<dyn DeliverableRepository>>,
    ) -> Self {
        Self {
            parts,
            repository,
            kept: Budget::default(),
        }
    }

    /// Lets flows begin only where `budget`, which the caller keeps to by itself, can be kept to.
    ///
    /// A backend that does not tell what a session costs is refused for a budget of money, before
    /// anything is written down.
    #[must_use]
    pub fn keeping(mut self, budget: Budget) -> Self {
        self.kept = budget;
        self
    }

    /// Tells whether there is a repository, and so a ledger of deliverables.
    pub fn has_ledger(&self) -> bool {
        self.repository.is_some()
    }

    /// Begins a flow: looks at the backend, takes over the ledger if there is one, and writes the
    /// start down.
    ///
    /// `control` cancels it, holds it before its next session, and tells its agents something, as
    /// for a run.
    ///
    /// # Errors
    ///
    /// It cannot begin: the backend is not there or must not be used (its guards, sandbox or budget
    /// could not be kept), the ledger or the journal cannot be had, or it was cancelled. Nothing
    /// was written to the journal, and observers were told the end.
    pub async fn open(
        &self,
        start: FlowStart,
        control: &RunControl,
    ) -> Result<OpenSessions, NotOpened> {
        let (run, now) = (self.parts.ids.run_id(), self.parts.clock.now());
        let recorded = RecordedFlow::begun(run, start, now);
        self.begin(Beginning::New(None), recorded, control).await
    }

    /// Resumes an interrupted flow: under its id, with the numbers of its sessions, and with
    /// what it has spent counted against the budget. The time counts from its first start.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub async fn reopen(
        &self,
        recorded: RecordedFlow,
        control: &RunControl,
    ) -> Result<OpenSessions, NotOpened> {
        self.begin(Beginning::Again(None), recorded, control).await
    }

    /// Begins a flow of a given id under an epoch that somebody else has chosen. The caller has seen
    /// the ledger: a missing one is an error.
    pub(crate) async fn open_at(
        &self,
        epoch: Epoch,
        flow: RecordedFlow,
        control: &RunControl,
    ) -> Result<OpenSessions, NotOpened> {
        self.begin(Beginning::New(Some(epoch)), flow, control).await
    }

    /// Resumes a flow under an epoch that somebody else has chosen. A missing ledger is an error.
    pub(crate) async fn reopen_at(
        &self,
        epoch: Epoch,
        flow: RecordedFlow,
        control: &RunControl,
    ) -> Result<OpenSessions, NotOpened> {
        self.begin(Beginning::Again(Some(epoch)), flow, control)
            .await
    }

    async fn begin(
        &self,
        beginning: Beginning,
        recorded: RecordedFlow,
        control: &RunControl,
    ) -> Result<OpenSessions, NotOpened> {
        let (run, flow) = (recorded.run.clone(), recorded.start.flow.clone());
        let setting = Setting::new(self.parts.clone(), control.clone(), run);
        tracing::info!(run = %setting.run, %flow, "flow started");
        setting.events.emit(RunEventKind::FlowStarted {
            run: &setting.run,
            flow: &flow,
            resumed: matches!(beginning, Beginning::Again(_)),
        });
        let mut open = OpenSessions::unprepared(setting, recorded);
        match self.prepare(&mut open, beginning).await {
            Ok(()) => Ok(open),
            Err(exit) => Err(NotOpened(Box::new(open.report(exit)))),
        }
    }

    async fn prepare(&self, open: &mut OpenSessions, beginning: Beginning) -> Result<(), FlowExit> {
        let setting = open.setting.clone();
        let limits = &self.parts.limits;
        let clock = &self.parts.clock;
        open.deadline = limits.budget.time.map(|time| later(open.started, time));
        let time_left = open
            .deadline
            .map(|deadline| between(setting.now(), deadline));
        let take_hold = async {
            let Some(repository) = &self.repository else {
                return Ok(None);
            };
            let history = setting.ledger_history().await?;
            let forget = |state: &mut LedgerState| forget_verification(state, limits.mode);
            let (book, _) = match beginning {
                Beginning::New(None) => {
                    take_over(repository.clone(), clock.clone(), limits.mode).await?
                }
                Beginning::New(Some(epoch)) => {
                    let (repository, clock) = (repository.clone(), clock.clone());
                    take_over_at(repository, clock, epoch, MissingLedger::Fail, forget).await?
                }
                Beginning::Again(None) => {
                    take_over_again(repository.clone(), clock.clone()).await?
                }
                Beginning::Again(Some(epoch)) => {
                    let (repository, clock) = (repository.clone(), clock.clone());
                    take_over_at(repository, clock, epoch, MissingLedger::Fail, |_| {}).await?
                }
            };
            Ok(Some((book, history)))
        };
        InvalidValue::check_budget("keeping(..)", &self.kept).map_err(|invalid| {
            FlowExit::Failed {
                error: Failure::from(&invalid),
            }
        })?;
        let budget = tighter(limits.budget, self.kept);
        let prepared = setting.prepare(&budget, time_left, take_hold).await;
        let failed = |error| FlowExit::Failed { error };
        let (capabilities, taken_over) = prepared.map_err(|not_ready| match not_ready {
            NotReady::Cancelled => FlowExit::Interrupted,
            NotReady::TimeIsUp => FlowExit::BudgetExceeded {
                budget: BudgetKind::Time,
            },
            NotReady::Failed(error) => failed(error),
        })?;
        open.capabilities = match self.parts.conversations {
            Some(_) => capabilities.given_conversation_dir(),
            None => capabilities,
        };
        let (book, history) = taken_over.unzip();
        let history = history.flatten();
        open.book = book.map(|book| setting.watch_ledger(book, history.as_ref()));
        let epoch = open.epoch();
        let FlowStart {
            flow,
            definition,
            parameters,
        } = open.start.clone();
        let line = match beginning {
            Beginning::Again(_) => JournalLine::FlowResumed { epoch },
            Beginning::New(_) => JournalLine::FlowStarted {
                flow,
                definition,
                parameters,
                epoch,
            },
        };
        let written = setting.write_down(&line, Durability::Synced);
        written.map_err(|error| failed(Failure::from(&error)))?;
        if let Some(book) = &open.book {
            let recorded = setting.record_found_ledger(book, history.as_ref()).await;
            recorded.map_err(|error| failed(Failure::from(&error)))?;
        }
        Ok(())
    }
}

/// How a flow comes to begin here, and under which epoch if somebody has chosen one.
#[derive(Clone, Copy)]
enum Beginning {
    New(Option<Epoch>),
    Again(Option<Epoch>),
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("project", &self.parts.project_paths.project)
            .finish_non_exhaustive()
    }
}

/// A flow that could not begin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the flow {} could not begin: {}", .0.flow, .0.exit)]
pub struct NotOpened(Box<FlowReport>);

impl NotOpened {
    /// Returns what the flow comes to: nothing, and why.
    pub fn report(&self) -> &FlowReport {
        &self.0
    }
}
