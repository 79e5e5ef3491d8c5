//! One session that has no record yet.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::host::ProjectSessionHost;
use super::recording::RecordingJournal;
use crate::domain::duration::millis::whole_millis;
use crate::domain::quota::between;
use crate::domain::{
    Epoch, Failure, FlowExit, LedgerView, Retry, SessionEnd, SessionKey, SessionResult,
};
use crate::engine::{HostedSession, RunProgress, SessionHostError};
use crate::port::{DeliverableRepository, InstructionSource};
use crate::project::{
    FileDeliverableRepository, FileJournal, Journal, ProjectGround, ProjectInstructions,
};
use crate::run::{
    FlowStart, NotOpened, OpenSessions, PerformedSession, RecordedFlow, RunControl, SessionOrder,
};

/// How often it tells that it works, and looks whether it was overtaken.
const BEAT: Duration = Duration::from_secs(5);

/// The flow that sessions of a host are, in the journal.
const FLOW: &str = "hosted";

/// A session that is to be run.
pub(super) struct Performing<'a> {
    pub(super) host: &'a ProjectSessionHost,
    pub(super) key: &'a SessionKey,
    pub(super) epoch: Epoch,
    pub(super) beat: &'a (dyn Fn(RunProgress) + Send + Sync),
}

impl Performing<'_> {
    /// Runs the session to its recorded end.
    pub(super) async fn perform(
        &self,
        ground: &ProjectGround,
        session: HostedSession,
        cancelled: CancellationToken,
    ) -> Result<SessionResult, SessionHostError> {
        let failed = |failure| self.failed(failure);
        let order = self.order(&session).await.map_err(failed)?;
        let flow = self.flow().map_err(failed)?;
        let ledger = self.host.ledger().map_err(failed)?;
        let project = &self.host.project;
        let journal = match flow {
            Some(_) => FileJournal::open(project),
            None => FileJournal::open_for_new_run(project),
        };
        let journal = journal.map_err(|error| failed(unusable(&error)))?;
        let journal = Arc::new(RecordingJournal::new(journal, ledger.clone(), self.epoch));
        let builder = ground.builder(self.host.agents.clone());
        let builder = builder.map_err(|error| failed(unusable(&error)))?;
        // The journal comes last: nobody may put another in the place of the record.
        let builder = (self.host.configure)(builder).journal(journal.clone());
        let sessions = builder.build_sessions();
        let sessions = sessions.map_err(|error| failed(unusable(&error)))?;
        let control = RunControl::from(cancelled);
        for message in &session.messages {
            control.instruct(message);
        }
        let opened = match flow {
            Some(flow) => sessions.reopen_at(self.epoch, flow, &control).await,
            None => sessions.open_at(self.epoch, self.begun(), &control).await,
        };
        let mut open = match opened {
            Ok(open) => open,
            Err(error) => return Err(self.not_opened(&error, &ledger).await),
        };
        let performed = self.watched(&mut open, order, &control, &ledger).await;
        match journal.has_recorded() {
            true => Ok(as_recorded(performed.result)),
            false => Err(self.unrecorded(performed, &ledger).await),
        }
    }

    /// Returns the session as it is ordered, with its text.
    async fn order(&self, session: &HostedSession) -> Result<SessionOrder, Failure> {
        let name = &session.instruction;
        let prompt = match &session.prompt {
            Some(prompt) => prompt.clone(),
            None => {
                let texts = ProjectInstructions::new(self.host.project.state_dir());
                let text = texts.resolve(name).await;
                text.map_err(|error| Failure::from(&error))?
            }
        };
        Ok(SessionOrder::new(prompt)
            .named(name.as_str())
            .deliverable_tools(name.clone())
            .budget(session.budget))
    }

    /// Returns the run as its journal tells it, such that its next session has the number that is
    /// asked for; `None` if it has not begun.
    fn flow(&self) -> Result<Option<RecordedFlow>, Failure> {
        let journal = Journal::read_all(&self.host.project).map_err(|error| unusable(&error))?;
        let flow = journal.flow(&self.key.run);
        Ok(flow.map(|flow| self.numbered(flow)))
    }

    fn begun(&self) -> RecordedFlow {
        let run = self.key.run.clone();
        let now = self.host.clock.now();
        self.numbered(RecordedFlow::begun(run, FlowStart::new(FLOW), now))
    }

    fn numbered(&self, flow: RecordedFlow) -> RecordedFlow {
        RecordedFlow {
            sessions: self.key.number.saturating_sub(1),
            session_under_way: None,
            ..flow
        }
    }

    /// Runs the session, tells that it works, and stops it when it was overtaken.
    async fn watched(
        &self,
        open: &mut OpenSessions,
        order: SessionOrder,
        control: &RunControl,
        ledger: &FileDeliverableRepository,
    ) -> PerformedSession {
        let started = self.host.clock.now();
        let mut running = pin!(open.run(order));
        loop {
            tokio::select! {
                biased;
                performed = &mut running => return performed,
                () = self.host.clock.sleep(BEAT) => {}
            }
            match ledger.load().await {
                Ok(Some(found)) if found.epoch > self.epoch => control.cancel(),
                Ok(found) => {
                    let view = found.map(|found| found.state.view());
                    (self.beat)(self.progress(started, view.unwrap_or_default()));
                }
                Err(error) => {
                    tracing::warn!(session = %self.key, %error, "the ledger cannot be looked at");
                    (self.beat)(self.progress(started, LedgerView::default()));
                }
            }
        }
    }

    fn progress(&self, started: Timestamp, ledger: LedgerView) -> RunProgress {
        let LedgerView { counts, .. } = ledger;
        let mut at = match counts.total {
            0 => RunProgress::default(),
            total => RunProgress::of(counts.passed as f64 / total as f64),
        };
        at.iteration = self.key.number;
        at.spent.time = between(started, self.host.clock.now());
        at
    }

    async fn not_opened(
        &self,
        error: &NotOpened,
        ledger: &FileDeliverableRepository,
    ) -> SessionHostError {
        match &error.report().exit {
            FlowExit::Interrupted => SessionHostError::Cancelled(self.key.clone()),
            FlowExit::Failed { error } => self.fenced_or(error.clone(), ledger).await,
            exit => {
                let failure = Failure::permanent("not_begun", exit.to_string());
                self.fenced_or(failure, ledger).await
            }
        }
    }

    async fn unrecorded(
        &self,
        performed: PerformedSession,
        ledger: &FileDeliverableRepository,
    ) -> SessionHostError {
        match performed.result.end {
            SessionEnd::Failed { error } => self.fenced_or(error, ledger).await,
            SessionEnd::Cancelled => SessionHostError::Cancelled(self.key.clone()),
            end => {
                let failure = Failure::permanent("not_begun", end.to_string());
                self.fenced_or(failure, ledger).await
            }
        }
    }

    /// Says that another has taken over, if that is so, and else what went wrong.
    async fn fenced_or(
        &self,
        failure: Failure,
        ledger: &FileDeliverableRepository,
    ) -> SessionHostError {
        match ledger.load().await {
            Ok(Some(found)) if found.epoch > self.epoch => SessionHostError::Fenced {
                asked: self.epoch,
                latest: found.epoch,
            },
            _ => self.failed(failure),
        }
    }

    fn failed(&self, failure: Failure) -> SessionHostError {
        SessionHostError::Failed {
            key: self.key.clone(),
            failure,
        }
    }
}

/// Returns a result as it is found in the record, which has no parts of milliseconds.
fn as_recorded(mut result: SessionResult) -> SessionResult {
    result.duration = Duration::from_millis(whole_millis(result.duration));
    result
}

fn unusable(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::from_error("project_unusable", error, Retry::Useless)
}
