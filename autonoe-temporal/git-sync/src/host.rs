//! Session host for projects that are synchronised between hosts.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{
    HostedOutcome, HostedSession, RunProgress, SessionHost, SessionHostError,
};
use autonoe_core::event::{Failure, InvalidValue};
use autonoe_core::ledger::LedgerView;
use autonoe_core::time::{Epoch, SessionKey};
use autonoe_core::{RunId, RunReport};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::{SyncError, SyncedProject};

type HeartbeatFn<'a> = &'a (dyn Fn(RunProgress) + Send + Sync);

/// Interval of heartbeats.
const BEAT: Duration = Duration::from_secs(5);

/// Delay before checking again whether another session has finished.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Time to wait for another session in the project, before publishing or ending the run.
const RUNNING_SESSION_TIMEOUT: Duration = Duration::from_secs(60);

/// Time that a remote has to answer after a cancellation.
const GRACE: Duration = Duration::from_secs(10);

/// Default interval of checks whether another host has taken over.
const WATCH: Duration = Duration::from_secs(60);

/// Executes sessions of a project that is synchronised between hosts, with the help of a host that
/// executes them in a folder.
///
/// For each session it brings the project to the current state of its run, takes over the run with
/// the epoch of the session, lets the inner host run the session or find its record, and returns
/// the outcome after it was published, so that the next host finds it. An outcome that cannot be
/// published now is a retryable failure; the retry runs nothing, because the record is on the local
/// disk. A session on a host that was overtaken is dropped, and never reaches the remote. The end
/// of a run is published like an outcome.
///
/// The inner host must use [`SyncedProject::project`].
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use autonoe_core::project::ProjectSessionHost;
/// use autonoe_core::{AgentClientFactory, RunId};
/// use autonoe_git_sync::{SyncError, SyncRemote, SyncedSessionHost, SyncedProject};
/// use autonoe_process::ProcessRunner;
///
/// # fn example(agents: Arc<dyn AgentClientFactory>) -> Result<SyncedSessionHost, SyncError> {
/// let commands = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let remote = SyncRemote::new("git@git.example.org:shop.git")?;
/// let home = Path::new("/var/lib/autonoe/login");
/// let synced_project = SyncedProject::open(home, remote, "main", &RunId::new("login"), commands)?;
///
/// let sessions = ProjectSessionHost::new(synced_project.project().clone(), agents);
/// let host = SyncedSessionHost::new(synced_project, sessions);
/// # Ok(host)
/// # }
/// ```
pub struct SyncedSessionHost {
    synced_project: SyncedProject,
    inner: Arc<dyn SessionHost>,
    watch: Duration,
}

impl SyncedSessionHost {
    /// Creates a host that executes the sessions of a synchronised project with `inner`.
    pub fn new(synced_project: SyncedProject, inner: impl SessionHost + 'static) -> Self {
        Self {
            synced_project,
            inner: Arc::new(inner),
            watch: WATCH,
        }
    }

    /// Sets how often, during a session, to check whether another host has taken over; once a
    /// minute by default. A host with an interval of zero refuses every session.
    #[must_use]
    pub fn takeover_check_interval(mut self, time: Duration) -> Self {
        self.watch = time;
        self
    }

    /// Returns the synchronised project.
    pub fn project(&self) -> &SyncedProject {
        &self.synced_project
    }

    /// Checks that the run is that of this project.
    fn check_run(&self, run: &RunId) -> Result<(), Failure> {
        let own_run = self.synced_project.run();
        if run == own_run {
            Ok(())
        } else {
            let reason = format!(
                "the run {run} is not on this host: this is the project of the run {own_run}"
            );
            Err(Failure::permanent("other_run", reason))
        }
    }

    /// Takes over the run, as soon as no session is running in the project.
    async fn acquire_run(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        on_heartbeat: HeartbeatFn<'_>,
        cancelled: &CancellationToken,
    ) -> Result<(), SessionHostError> {
        loop {
            let cancelled_for_long = async {
                cancelled.cancelled().await;
                sleep(GRACE).await;
            };
            let acquired = tokio::select! {
                acquired = self.with_heartbeats(on_heartbeat, self.synced_project.take_over(epoch)) => acquired,
                () = cancelled_for_long => return Err(SessionHostError::Cancelled(key.clone())),
            };
            match acquired {
                Err(SyncError::InUse(_)) => {}
                acquired => return acquired.map_err(|error| error.into_session_error(key, epoch)),
            }
            if cancelled.is_cancelled() {
                return Err(SessionHostError::Cancelled(key.clone()));
            }
            on_heartbeat(RunProgress::default());
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = sleep(POLL_INTERVAL) => {}
            }
        }
    }

    /// Publishes the work of a session, or records outside of sessions.
    async fn publish(&self, epoch: Epoch, session: Option<u32>) -> Result<(), SyncError> {
        let started = Instant::now();
        loop {
            match self.synced_project.publish(epoch, session).await {
                Err(SyncError::InUse(_)) if started.elapsed() < RUNNING_SESSION_TIMEOUT => {
                    sleep(POLL_INTERVAL).await;
                }
                published => return published,
            }
        }
    }

    /// Takes over the run to end it. Waits for a session that is running in the project, for a
    /// limited time.
    async fn acquire_run_to_end(&self, epoch: Epoch) -> Result<(), SyncError> {
        let started = Instant::now();
        loop {
            match self.synced_project.take_over(epoch).await {
                Err(SyncError::InUse(_)) if started.elapsed() < RUNNING_SESSION_TIMEOUT => {
                    sleep(POLL_INTERVAL).await;
                }
                acquired => return acquired,
            }
        }
    }

    /// Completes when another host has taken over, and returns its epoch.
    async fn wait_for_takeover(&self, epoch: Epoch) -> Epoch {
        let mut known = None;
        loop {
            sleep(self.watch).await;
            let found = match self.synced_project.branch_tip().await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(%error, "cannot check whether another host has taken over");
                    continue;
                }
            };
            if found == known {
                continue;
            }
            match self.synced_project.check(epoch).await {
                Err(SyncError::Overtaken { latest, .. }) => return latest,
                Ok(()) => known = found,
                // Other errors are reported when the session is published.
                Err(error) => {
                    tracing::warn!(%error, "the branch of the run has changed unexpectedly");
                }
            }
        }
    }

    /// Waits for `work`, and emits heartbeats in the meantime.
    async fn with_heartbeats<T>(
        &self,
        on_heartbeat: HeartbeatFn<'_>,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = sleep(BEAT) => on_heartbeat(RunProgress::default()),
            }
        }
    }
}

#[async_trait]
impl SessionHost for SyncedSessionHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: SessionKey::for_run(run),
            failure,
        };
        self.check_run(run).map_err(failed)?;
        let seen = match self.synced_project.checkout().await {
            // A running session is stopped when the run is taken over.
            Err(SyncError::InUse(_)) => self.synced_project.epoch().await,
            seen => seen,
        };
        let seen = seen.map_err(|error| failed(error.into()))?;
        let here = self.inner.claim(run).await?;
        let Some(seen) = seen else {
            return Ok(here);
        };
        let next = seen.next().ok_or_else(|| {
            let reason = format!("there is no epoch after {}", seen.0);
            failed(Failure::permanent("no_epoch", reason))
        })?;
        Ok(here.max(next))
    }

    async fn ledger_view(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.check_run(run)?;
        match self.synced_project.checkout().await {
            Ok(_) | Err(SyncError::InUse(_)) => {}
            Err(error @ SyncError::Unreachable { .. }) => {
                // As far as is known, no other host has made progress.
                if !self.synced_project.owns_run().await? {
                    return Err(error.into());
                }
            }
            Err(error) => return Err(error.into()),
        }
        self.inner.ledger_view(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        on_heartbeat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        InvalidValue::check_time("takeover_check_interval(0)", self.watch)
            .map_err(|invalid| failed(Failure::from(&invalid)))?;
        self.check_run(&key.run).map_err(failed)?;
        self.acquire_run(key, epoch, on_heartbeat, &cancelled)
            .await?;
        let outcome = tokio::select! {
            biased;
            outcome = self.inner.attach_or_start(key, epoch, session, on_heartbeat, cancelled) => outcome?,
            // Dropped, so that no record is made here that other hosts will never see.
            latest = self.wait_for_takeover(epoch) => {
                return Err(SessionHostError::Fenced { requested: epoch, latest });
            }
        };
        let publishing = self.publish(epoch, Some(key.number));
        let published = self.with_heartbeats(on_heartbeat, publishing).await;
        published.map_err(|error| error.into_session_error(key, epoch))?;
        Ok(outcome)
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        let key = SessionKey::for_run(&report.run);
        let failed = |error: SyncError| error.into_session_error(&key, epoch);
        self.check_run(&report.run)
            .map_err(|failure| SessionHostError::Failed {
                key: key.clone(),
                failure,
            })?;
        if self.synced_project.epoch().await.map_err(failed)?.is_none() {
            // No host has started anything, so there is no branch, and none is created.
            return Ok(());
        }
        self.acquire_run_to_end(epoch).await.map_err(failed)?;
        self.inner.conclude(epoch, report).await?;
        self.publish(epoch, None).await.map_err(failed)
    }
}

impl fmt::Debug for SyncedSessionHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncedSessionHost")
            .field("synced_project", &self.synced_project)
            .finish_non_exhaustive()
    }
}
