//! [`Sessions`], the factory of flows with single sessions.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::open_sessions::min_budget;
use super::{OpenSessions, RecordedFlow};
use crate::agent::{Budget, BudgetKind};
use crate::event::{Failure, RunEventKind};
use crate::ledger::DeliverableRepository;
use crate::run::prepare::{MissingLedger, StartError, raise_epoch};
use crate::run::run_context::RunContext;
use crate::run::runner::RunParts;
use crate::run::{
    BuildError, Durability, FlowExit, FlowReport, JournalLine, RunControl, SessionRunnerBuilder,
};
use crate::time::Epoch;
use crate::time::timestamp::{between, saturating_add};

/// Opens flows, in which the caller decides which session comes next.
///
/// Their sessions are those of a [`SessionRunner`](crate::SessionRunner), with the same guards,
/// gate, hooks, tools, observers, spans, session limits, sandbox, lock and journal, and the same
/// checks before the start. Created by
/// [`SessionRunnerBuilder::build_sessions`](crate::run::SessionRunnerBuilder::build_sessions).
///
/// A flow is the caller's use of these sessions: all of them belong to one run, one span tree and
/// one budget.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_core::run::FlowExit;
/// use autonoe_core::session::FlowStart;
/// use autonoe_core::{RunControl, SessionOrder, SessionRunner};
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// # let agents = Arc::new(ScriptedBackend::new([
/// #     SessionScript::new("draft").says("A haiku.").ends(),
/// #     SessionScript::new("review").says("It is good.").ends(),
/// # ]));
/// let sessions = SessionRunner::builder("/srv/project")
///     .agents(agents)
/// #   .clock(VirtualClock::new())
///     .build_sessions()?;
///
/// let mut open = sessions.open(FlowStart::new("haiku"), &RunControl::new()).await?;
/// let draft = open.run(SessionOrder::new("Write a haiku.").name("draft")).await;
/// let review = format!("Review this:\n\n{}", draft.answer);
/// let review = open.run(SessionOrder::new(review).name("review")).await;
/// let report = open.close(FlowExit::Completed, json!({"review": review.answer}));
///
/// assert_eq!(review.answer, "It is good.");
/// assert_eq!(report.sessions, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct Sessions {
    parts: Arc<RunParts>,
    repository: Option<Arc<dyn DeliverableRepository>>,
    /// The budget that the caller enforces itself.
    caller_budget: Budget,
}

impl SessionRunnerBuilder {
    /// Builds [`Sessions`] for a caller that decides itself which session comes next.
    ///
    /// Instructions and their selector are not used. Without a repository there is no ledger, and
    /// sessions have no deliverable tools. Of the limits, only those of a session and the budget
    /// apply.
    ///
    /// # Errors
    ///
    /// A required part is missing, or a value is invalid.
    pub fn build_sessions(mut self) -> Result<Sessions, BuildError> {
        let repository = self.repository.take();
        Ok(Sessions::new(Arc::new(self.into_parts()?), repository))
    }
}

impl Sessions {
    pub(crate) fn new(
        parts: Arc<RunParts>,
        repository: Option<Arc<dyn DeliverableRepository>>,
    ) -> Self {
        Self {
            parts,
            repository,
            caller_budget: Budget::default(),
        }
    }

    /// Starts flows only if the backend reports what is needed to enforce `budget`, which the
    /// caller enforces itself.
    ///
    /// A backend that does not report the cost of a session is refused for a cost budget, before
    /// anything is recorded.
    #[must_use]
    pub fn caller_budget(mut self, budget: Budget) -> Self {
        self.caller_budget = budget;
        self
    }

    /// Returns whether there is a repository, and so a ledger of deliverables.
    pub fn has_ledger(&self) -> bool {
        self.repository.is_some()
    }

    /// Starts a flow: checks the backend, takes over the ledger if there is one, and records the
    /// start.
    ///
    /// `control` cancels the flow, pauses it before its next session, and sends messages to its
    /// agents, as for a run.
    ///
    /// # Errors
    ///
    /// The flow cannot start: the backend is missing or must not be used (its guards, sandbox or
    /// budget could not be enforced), the ledger or the journal is not available, or the flow was
    /// cancelled. Nothing was written to the journal, and observers received the end.
    pub async fn open(
        &self,
        start: FlowStart,
        control: &RunControl,
    ) -> Result<OpenSessions, FlowStartError> {
        let (run, now) = (self.parts.ids.run_id(), self.parts.settings.clock.now());
        let recorded = RecordedFlow::new(run, start, now);
        self.begin(FlowStartMode::New(None), recorded, control)
            .await
    }

    /// Resumes an interrupted flow: under its ID, with the numbers of its sessions, and with its
    /// previous spending counted against the budget. The time counts from its first start.
    ///
    /// # Errors
    ///
    /// As for [`open`](Self::open).
    pub async fn reopen(
        &self,
        recorded: RecordedFlow,
        control: &RunControl,
    ) -> Result<OpenSessions, FlowStartError> {
        self.begin(FlowStartMode::Resumed(None), recorded, control)
            .await
    }

    /// Opens a flow, or resumes it. If the caller has chosen the epoch, a missing ledger is an error.
    pub(crate) async fn begin(
        &self,
        start_mode: FlowStartMode,
        recorded: RecordedFlow,
        control: &RunControl,
    ) -> Result<OpenSessions, FlowStartError> {
        let (run, flow) = (recorded.run.clone(), recorded.start.flow.clone());
        let context = RunContext::new(self.parts.clone(), control.clone(), run);
        tracing::info!(run = %context.run, %flow, "flow started");
        context.events.emit(RunEventKind::FlowStarted {
            run: &context.run,
            flow: &flow,
            resumed: matches!(start_mode, FlowStartMode::Resumed(_)),
        });
        let mut open = OpenSessions::unprepared(context, recorded);
        match self.prepare(&mut open, start_mode).await {
            Ok(()) => Ok(open),
            Err(exit) => Err(FlowStartError(Box::new(open.report(exit)))),
        }
    }

    async fn prepare(
        &self,
        open: &mut OpenSessions,
        start_mode: FlowStartMode,
    ) -> Result<(), FlowExit> {
        let context = open.context.clone();
        let limits = &self.parts.settings.limits;
        let clock = &self.parts.settings.clock;
        open.deadline = limits
            .budget
            .time
            .map(|time| saturating_add(open.started, time));
        let time_left = open
            .deadline
            .map(|deadline| between(context.now(), deadline));
        let acquire = async {
            let Some(repository) = &self.repository else {
                return Ok(None);
            };
            let history = context.ledger_history().await?;
            let (epoch, new_run) = match start_mode {
                FlowStartMode::New(epoch) => (epoch, Some(limits.mode)),
                FlowStartMode::Resumed(epoch) => (epoch, None),
            };
            // A caller that has chosen the epoch has seen a ledger.
            let missing = match epoch {
                Some(_) => MissingLedger::Fail,
                None => MissingLedger::Create,
            };
            let (repository, clock) = (repository.clone(), clock.clone());
            let (store, _) = raise_epoch(repository, clock, epoch, missing, new_run).await?;
            Ok(Some((store, history)))
        };
        self.caller_budget
            .check("caller_budget(..)")
            .map_err(|invalid| FlowExit::Failed {
                error: Failure::from(&invalid),
            })?;
        let budget = min_budget(limits.budget, self.caller_budget);
        open.watch_budget(budget);
        let prepared = context.prepare(&budget, time_left, acquire).await;
        let failed = |error| FlowExit::Failed { error };
        let (capabilities, ledger) = prepared.map_err(|not_ready| match not_ready {
            StartError::Cancelled => FlowExit::Interrupted,
            StartError::TimeBudgetSpent => FlowExit::BudgetExceeded {
                budget: BudgetKind::Time,
            },
            StartError::Failed(error) => failed(error),
        })?;
        open.capabilities = match self.parts.settings.conversations {
            Some(_) => capabilities.for_conversation_dir(),
            None => capabilities,
        };
        let (store, history) = ledger.unzip();
        let history = history.flatten();
        open.store = store.map(|store| context.watch_ledger(store, history.as_ref()));
        let epoch = open.epoch();
        let FlowStart {
            flow,
            definition,
            parameters,
        } = open.start.clone();
        let line = match start_mode {
            FlowStartMode::Resumed(_) => JournalLine::FlowResumed { epoch },
            FlowStartMode::New(_) => JournalLine::FlowStarted {
                flow,
                definition,
                parameters,
                epoch,
            },
        };
        let written = context.record(&line, Durability::Synced);
        written.map_err(|error| failed(Failure::from(&error)))?;
        if let Some(store) = &open.store {
            let recorded = context.record_found_ledger(store, history.as_ref()).await;
            recorded.map_err(|error| failed(Failure::from(&error)))?;
        }
        Ok(())
    }
}

/// The way a flow starts in this process, with the epoch if the caller has chosen one.
#[derive(Clone, Copy)]
pub(crate) enum FlowStartMode {
    New(Option<Epoch>),
    Resumed(Option<Epoch>),
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("project", &self.parts.settings.project_paths.project)
            .finish_non_exhaustive()
    }
}

/// A flow that could not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the flow {} could not start: {}", .0.flow, .0.exit)]
pub struct FlowStartError(Box<FlowReport>);

impl FlowStartError {
    /// Returns the report of the flow, with the reason as its exit.
    pub fn report(&self) -> &FlowReport {
        &self.0
    }
}

/// The name and the parameters of a new flow, for observers and the journal.
///
/// ```
/// use autonoe_core::session::FlowStart;
/// use serde_json::json;
///
/// let start = FlowStart::new("review")
///     .definition("1f0c9a")
///     .parameters(json!({"branch": "main"}));
///
/// assert_eq!(start.flow, "review");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FlowStart {
    /// The name of the flow.
    pub flow: String,
    /// Identifies the version of the flow's definition, for example by a hash; empty by default.
    pub definition: String,
    /// The parameters; an empty object by default.
    pub parameters: Value,
}

impl FlowStart {
    /// Creates the start of the flow `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            flow: name.into(),
            definition: String::new(),
            parameters: Value::Object(Map::new()),
        }
    }

    /// Sets the identifier of the definition's version.
    #[must_use]
    pub fn definition(mut self, definition: impl Into<String>) -> Self {
        self.definition = definition.into();
        self
    }

    /// Sets the parameters. They are recorded in the journal, so they must not contain secrets.
    #[must_use]
    pub fn parameters(mut self, parameters: Value) -> Self {
        self.parameters = parameters;
        self
    }
}
