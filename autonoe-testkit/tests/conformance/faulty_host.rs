//! Session host with an injected fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::SessionEnd;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::{Failure, InstructionName};
use autonoe_core::ledger::LedgerView;
use autonoe_core::project::{Journal, OpenProject, ProjectSessionHost, RunLock};
use autonoe_core::run::JournalLine;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{Project, RunId, RunReport};
use autonoe_testkit::VirtualClock;
use autonoe_testkit::conformance::HostProject;
use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// The fault of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Nothing,
    RerunsSessions,
    UsesOwnFolder,
    MixesUpSessions,
    TakesOldEpochs,
    WritesWhenOvertaken,
    TakesOverWithAClaim,
    BlocksReads,
    SendsNoProgress,
    IgnoresCancellations,
    ForgetsCancellations,
    StartsCancelledSessions,
    CancelsDroppedSessions,
    ContinuesDroppedSessions,
    ForgetsMessages,
    HidesTheLedger,
    TakesTheEndOnce,
    ForgetsWithTheEnd,
    BeginsAfterTheEnd,
    TakesOldEnds,
    EndsWhenOvertaken,
    EndsUnstartedSessions,
    DoesNotWaitToEnd,
}

/// A host that conforms except for its fault.
pub(super) struct FaultyHost {
    fault: Fault,
    project: Project,
    inner: Arc<ProjectSessionHost>,
}

type Attached = Result<HostedOutcome, SessionHostError>;

impl FaultyHost {
    pub(super) fn around(fault: Fault, host_project: &HostProject) -> Arc<dyn SessionHost> {
        static HOSTS: AtomicUsize = AtomicUsize::new(0);
        let mut folder = host_project.project().to_owned();
        if fault == Fault::UsesOwnFolder {
            let number = HOSTS.fetch_add(1, Ordering::Relaxed);
            folder.push(format!("elsewhere-{number}"));
            std::fs::create_dir(&folder).expect("it is writable");
        }
        let project = Project::find(&folder, None).expect("it is there");
        let options = OpenProject::options(&project).clock(VirtualClock::new());
        let inner = ProjectSessionHost::new(options, host_project.agents());
        Arc::new(Self {
            fault,
            project,
            inner: Arc::new(inner),
        })
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn has_ended(&self, run: &RunId) -> bool {
        let journal = Journal::read_all(&self.project).expect("it can be read");
        let of_run = journal.entries().iter().filter(|entry| entry.run == *run);
        of_run
            .map(|entry| &entry.line)
            .any(|line| matches!(line, JournalLine::RunEnded { .. }))
    }

    /// Raises the epoch without starting a session.
    async fn take_over(&self, run: &RunId, epoch: Epoch) {
        let key = SessionKey {
            run: run.clone(),
            number: 99,
        };
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let session = HostedSession::new(InstructionName::Coding);
        let claimed = self
            .inner
            .attach_or_start(&key, epoch, session, &|_| {}, cancelled);
        let _ = claimed.await;
    }

    /// Attaches in a separate task, which survives dropping the caller.
    async fn apart(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Attached {
        let (host, key) = (self.inner.clone(), key.clone());
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let mut task = tokio::spawn(async move {
            let beat = |at| {
                let _ = sender.send(at);
            };
            host.attach_or_start(&key, epoch, session, &beat, cancelled)
                .await
        });
        loop {
            tokio::select! {
                attached = &mut task => return attached.expect("it does not panic"),
                Some(at) = receiver.recv() => beat(at),
            }
        }
    }
}

#[async_trait]
impl SessionHost for FaultyHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let epoch = self.inner.claim(run).await?;
        if self.is(Fault::TakesOverWithAClaim) {
            self.take_over(run, epoch).await;
        }
        Ok(epoch)
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        while self.is(Fault::BlocksReads)
            && RunLock::acquire(&self.project, Timestamp::UNIX_EPOCH).is_err()
        {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        match self.fault {
            Fault::HidesTheLedger => Ok(LedgerView::default()),
            _ => self.inner.ledger_view(run).await,
        }
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        mut session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        mut cancelled: CancellationToken,
    ) -> Attached {
        let mut key = key.clone();
        let quiet = |_: RunProgress| {};
        let mut on_progress: &(dyn Fn(RunProgress) + Send + Sync) = beat;
        match self.fault {
            Fault::RerunsSessions => {
                let journal = Journal::read_all(&self.project).expect("it can be read");
                while journal.session_result(&key).is_some() {
                    key.number += 100;
                }
            }
            Fault::MixesUpSessions => key.number = 1,
            Fault::ForgetsWithTheEnd if self.has_ended(&key.run) => key.number += 100,
            Fault::BeginsAfterTheEnd if self.has_ended(&key.run) => {
                let journal = Journal::read_all(&self.project).expect("it can be read");
                if journal.session_result(&key).is_none() {
                    key.run = RunId::new("another");
                }
            }
            Fault::SendsNoProgress => on_progress = &quiet,
            Fault::IgnoresCancellations => cancelled = CancellationToken::new(),
            Fault::StartsCancelledSessions if cancelled.is_cancelled() => {
                cancelled = CancellationToken::new();
            }
            Fault::ForgetsMessages => session.messages.clear(),
            Fault::ContinuesDroppedSessions => {
                return self.apart(&key, epoch, session, beat, cancelled).await;
            }
            Fault::CancelsDroppedSessions => {
                let _leaving = cancelled.clone().drop_guard();
                return self.apart(&key, epoch, session, beat, cancelled).await;
            }
            _ => {}
        }
        let original = session.clone();
        let attached = self
            .inner
            .attach_or_start(&key, epoch, session, on_progress, cancelled.clone())
            .await;
        match attached {
            Err(SessionHostError::Fenced { latest, .. }) if self.is(Fault::TakesOldEpochs) => {
                self.inner
                    .attach_or_start(&key, latest, original, beat, cancelled)
                    .await
            }
            Err(SessionHostError::Fenced { latest, .. })
                if self.is(Fault::WritesWhenOvertaken)
                    && original.instruction == InstructionName::Initializer =>
            {
                key.number += 100;
                let writing = self
                    .inner
                    .attach_or_start(&key, latest, original, beat, cancelled);
                let _ = writing.await;
                attached
            }
            Ok(outcome) if self.is(Fault::ForgetsCancellations) => match outcome.result.end {
                SessionEnd::Cancelled => Err(SessionHostError::Cancelled(key)),
                _ => Ok(outcome),
            },
            attached => attached,
        }
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        let run = &report.run;
        let failed = || SessionHostError::Failed {
            key: SessionKey {
                run: run.clone(),
                number: 0,
            },
            failure: Failure::permanent("no_end", "it is not taken"),
        };
        match self.fault {
            Fault::TakesTheEndOnce if self.has_ended(run) => return Err(failed()),
            Fault::DoesNotWaitToEnd
                if RunLock::held(&self.project).expect("readable").is_some() =>
            {
                return Err(failed());
            }
            Fault::EndsUnstartedSessions => self.take_over(run, epoch).await,
            _ => {}
        }
        let concluded = self.inner.conclude(epoch, report).await;
        match concluded {
            Err(SessionHostError::Fenced { .. }) if self.is(Fault::TakesOldEnds) => Ok(()),
            Err(SessionHostError::Fenced { latest, .. }) if self.is(Fault::EndsWhenOvertaken) => {
                self.inner.conclude(latest, report).await?;
                concluded
            }
            concluded => concluded,
        }
    }
}
