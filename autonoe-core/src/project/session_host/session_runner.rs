//! [`HostedSessionRunner`], which runs a session that has no record yet.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::host::ProjectSessionHost;
use super::recording_journal::RecordingJournal;
use super::unusable;
use crate::agent::{SessionEnd, SessionOutcome, SessionReport};
use crate::engine::{HostedSession, RunProgress, SessionHostError};
use crate::event::Failure;
use crate::ledger::DeliverableRepository;
use crate::ledger::LedgerView;
use crate::project::{
    FileDeliverableRepository, FileJournal, Journal, OpenProject, ProjectInstructions,
};
use crate::run::InstructionSource;
use crate::run::RunControl;
use crate::session::sessions::FlowStartMode;
use crate::session::{FlowStart, OpenSessions, PerformedSession, RecordedFlow, SessionOrder};
use crate::time::millis::whole_millis;
use crate::time::timestamp::between;
use crate::time::{Epoch, SessionKey};

/// The interval of heartbeats and of checks whether the session was overtaken.
const BEAT: Duration = Duration::from_secs(5);

/// The name of the flow of hosted sessions in the journal.
const FLOW: &str = "hosted";

/// A session to run.
pub(super) struct HostedSessionRunner<'a> {
    pub(super) host: &'a ProjectSessionHost,
    pub(super) key: &'a SessionKey,
    pub(super) epoch: Epoch,
    pub(super) on_heartbeat: &'a (dyn Fn(RunProgress) + Send + Sync),
}

impl HostedSessionRunner<'_> {
    /// Runs the session to its recorded end.
    pub(super) async fn run(
        &self,
        open_project: &OpenProject,
        session: HostedSession,
        cancelled: CancellationToken,
    ) -> Result<SessionReport, SessionHostError> {
        let failed = SessionHostError::failed(self.key);
        let order = self.order(&session).await.map_err(failed)?;
        let flow = self.flow().map_err(failed)?;
        let ledger = self.host.ledger().map_err(failed)?;
        let project = &self.host.options.project;
        let file_journal = match flow {
            Some(_) => FileJournal::open(project),
            None => FileJournal::open_for_new_run(project),
        }
        .map_err(|error| failed(unusable(&error)))?;
        let journal = RecordingJournal::new(file_journal, ledger.clone(), self.epoch);
        let journal = Arc::new(journal);
        let builder = open_project
            .builder(self.host.agents.clone())
            .map_err(|error| failed(unusable(&error)))?;
        // The journal is set last, so that `configure` cannot replace it.
        let sessions = (self.host.configure)(builder)
            .journal(journal.clone())
            .build_sessions()
            .map_err(|error| failed(unusable(&error)))?;
        let control = RunControl::from(cancelled);
        for message in &session.messages {
            control.instruct(message);
        }
        let epoch = Some(self.epoch);
        let (start_mode, flow) = match flow {
            Some(flow) => (FlowStartMode::Resumed(epoch), flow),
            None => (FlowStartMode::New(epoch), self.new_flow()),
        };
        let mut open = match sessions.begin(start_mode, flow, &control).await {
            Ok(open) => open,
            Err(error) => {
                let end = SessionEnd::from(&error.report().exit);
                return Err(self.unrecorded(end, &ledger).await);
            }
        };
        let performed = self
            .run_with_heartbeat(&mut open, order, &control, &ledger)
            .await;
        if journal.has_recorded() {
            Ok(as_recorded(performed.result))
        } else {
            Err(self.unrecorded(performed.result.end, &ledger).await)
        }
    }

    /// Returns the order of the session, with its prompt.
    async fn order(&self, session: &HostedSession) -> Result<SessionOrder, Failure> {
        let name = &session.instruction;
        let prompt = match &session.prompt {
            Some(prompt) => prompt.clone(),
            None => {
                let texts = ProjectInstructions::new(self.host.options.project.state_dir());
                let text = texts.resolve(name).await;
                text.map_err(|error| Failure::from(&error))?
            }
        };
        Ok(SessionOrder::new(prompt)
            .name(name.as_str())
            .deliverable_tools(name.clone())
            .budget(session.budget))
    }

    /// Returns the run from its journal, such that its next session has the requested number;
    /// `None` if it has not started.
    fn flow(&self) -> Result<Option<RecordedFlow>, Failure> {
        let journal =
            Journal::read_all(&self.host.options.project).map_err(|error| unusable(&error))?;
        let flow = journal.flow(&self.key.run);
        Ok(flow.map(|flow| self.numbered(flow)))
    }

    fn new_flow(&self) -> RecordedFlow {
        let run = self.key.run.clone();
        let now = self.host.options.clock.now();
        self.numbered(RecordedFlow::new(run, FlowStart::new(FLOW), now))
    }

    fn numbered(&self, flow: RecordedFlow) -> RecordedFlow {
        RecordedFlow {
            sessions: self.key.number.saturating_sub(1),
            running_session: None,
            ..flow
        }
    }

    /// Runs the session, sends heartbeats, and stops it when it was overtaken.
    async fn run_with_heartbeat(
        &self,
        open: &mut OpenSessions,
        order: SessionOrder,
        control: &RunControl,
        ledger: &FileDeliverableRepository,
    ) -> PerformedSession {
        let started = self.host.options.clock.now();
        let mut running = pin!(open.run(order));
        loop {
            tokio::select! {
                biased;
                performed = &mut running => return performed,
                () = self.host.options.clock.sleep(BEAT) => {}
            }
            match ledger.load().await {
                Ok(Some(found)) if found.epoch > self.epoch => control.cancel(),
                Ok(found) => {
                    let view = found.map(|found| found.state.view());
                    (self.on_heartbeat)(self.progress(started, view.unwrap_or_default()));
                }
                Err(error) => {
                    tracing::warn!(session = %self.key, %error, "the ledger cannot be read");
                    (self.on_heartbeat)(self.progress(started, LedgerView::default()));
                }
            }
        }
    }

    fn progress(&self, started: Timestamp, ledger: LedgerView) -> RunProgress {
        let LedgerView { counts, .. } = ledger;
        let mut at = match counts.total {
            0 => RunProgress::default(),
            total => RunProgress::new(counts.passed as f64 / total as f64),
        };
        at.iteration = self.key.number;
        at.spent.time = between(started, self.host.options.clock.now());
        at
    }

    /// Returns the error of a session whose end was not recorded.
    async fn unrecorded(
        &self,
        end: SessionEnd,
        ledger: &FileDeliverableRepository,
    ) -> SessionHostError {
        let failure = match end {
            SessionEnd::Cancelled => return SessionHostError::Cancelled(self.key.clone()),
            SessionEnd::Failed { error } => error,
            SessionEnd::BudgetSpent { .. }
            | SessionEnd::Outcome(
                SessionOutcome::Completed
                | SessionOutcome::MaxTurns
                | SessionOutcome::BudgetExceeded
                | SessionOutcome::Interrupted
                | SessionOutcome::QuotaExceeded { .. }
                | SessionOutcome::ExecutionError { .. },
            ) => Failure::permanent("not_started", end.to_string()),
        };
        match ledger.load().await {
            Ok(Some(found)) if found.epoch > self.epoch => SessionHostError::Fenced {
                requested: self.epoch,
                latest: found.epoch,
            },
            _ => SessionHostError::failed(self.key)(failure),
        }
    }
}

/// Returns a result as it is read from the record, which has whole milliseconds.
fn as_recorded(mut result: SessionReport) -> SessionReport {
    result.duration = Duration::from_millis(whole_millis(result.duration));
    result
}
