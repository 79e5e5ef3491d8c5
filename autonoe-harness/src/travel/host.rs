//! Sessions of a project that travels.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Clock, Epoch, Failure, HostedOutcome, HostedSession, InvalidValue, LedgerView, RunId,
    RunProgress, RunReport, SessionHost, SessionHostError, SessionKey, SystemClock,
};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::{TravelError, TravellingProject};

type Beat<'a> = &'a (dyn Fn(RunProgress) + Send + Sync);

/// How often it tells that it works.
const BEAT: Duration = Duration::from_secs(5);

/// How long to wait before looking again whether another one is done.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// How long another one is waited for who works in the project when all is to be published, or the
/// run to be ended.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long a remote may take for an answer to who does not want it any more.
const GRACE: Duration = Duration::from_secs(10);

/// How often it is looked whether another host has taken over.
const WATCH: Duration = Duration::from_secs(60);

/// Carries out sessions of a project that travels between hosts, by a host that does so in a folder.
///
/// It brings the project to where its run is, takes the run over with the epoch of the session, has
/// the other host run it or find its record, and tells the outcome after it was published: whoever
/// takes over then finds it. An outcome that cannot be published now is a failure that another try
/// may mend; that try runs nothing, because the record is on disk here. A session on a host that was
/// overtaken is dropped, and never reaches the remote. The end of a run is published as an outcome is.
///
/// The other host must stand on [`TravellingProject::project`].
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use autonoe_core::{AgentClientFactory, ProjectSessionHost, RunId};
/// use autonoe_harness::{TravelError, TravelRemote, TravellingHost, TravellingProject};
/// use autonoe_process::Commands;
///
/// # fn example(agents: Arc<dyn AgentClientFactory>) -> Result<TravellingHost, TravelError> {
/// let commands = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let remote = TravelRemote::new("git@git.example.org:shop.git")?;
/// let home = Path::new("/var/lib/autonoe/login");
/// let travels = TravellingProject::open(home, remote, "main", &RunId::new("login"), commands)?;
///
/// let sessions = ProjectSessionHost::new(travels.project().clone(), agents);
/// let host = TravellingHost::new(travels, sessions);
/// # Ok(host)
/// # }
/// ```
pub struct TravellingHost {
    travels: TravellingProject,
    inner: Arc<dyn SessionHost>,
    clock: Arc<dyn Clock>,
    watch: Duration,
}

impl TravellingHost {
    /// Has `inner` carry out the sessions of a project that travels.
    pub fn new(travels: TravellingProject, inner: impl SessionHost + 'static) -> Self {
        Self {
            travels,
            inner: Arc::new(inner),
            clock: Arc::new(SystemClock),
            watch: WATCH,
        }
    }

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets how often it is looked, while a session works, whether another host has taken over; once
    /// a minute by default.
    #[must_use]
    pub fn watch_every(mut self, time: Duration) -> Self {
        self.watch = time;
        self
    }

    /// Returns the project that travels.
    pub fn travels(&self) -> &TravellingProject {
        &self.travels
    }

    /// Makes sure that it is the run of this project.
    fn is_ours(&self, run: &RunId) -> Result<(), Failure> {
        let ours = self.travels.run();
        match run == ours {
            true => Ok(()),
            false => {
                let why =
                    format!("the run {run} is not here: this is the project of the run {ours}");
                Err(Failure::permanent("other_run", why))
            }
        }
    }

    /// Takes the run over, as soon as nobody works in the project.
    async fn take(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        beat: Beat<'_>,
        cancelled: &CancellationToken,
    ) -> Result<(), SessionHostError> {
        loop {
            let unwanted = async {
                cancelled.cancelled().await;
                self.clock.sleep(GRACE).await;
            };
            let taken = tokio::select! {
                taken = self.beating(beat, self.travels.take(epoch)) => taken,
                () = unwanted => return Err(SessionHostError::Cancelled(key.clone())),
            };
            match taken {
                Err(TravelError::InUse(_)) => {}
                taken => return taken.map_err(|error| error.of_session(key, epoch)),
            }
            if cancelled.is_cancelled() {
                return Err(SessionHostError::Cancelled(key.clone()));
            }
            beat(RunProgress::default());
            tokio::select! {
                () = cancelled.cancelled() => {}
                () = self.clock.sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// Publishes what a session did, or what was written down beside sessions.
    async fn publish(&self, epoch: Epoch, session: Option<u32>) -> Result<(), TravelError> {
        let began = self.clock.now();
        loop {
            match self.travels.publish(epoch, session).await {
                Err(TravelError::InUse(_)) if self.waits_since(began) => {
                    self.clock.sleep(LOOK_AGAIN).await;
                }
                published => return published,
            }
        }
    }

    /// Takes the run over to end it. Who works in the project is waited for, but not for long.
    async fn take_for_the_end(&self, epoch: Epoch) -> Result<(), TravelError> {
        let began = self.clock.now();
        loop {
            match self.travels.take(epoch).await {
                Err(TravelError::InUse(_)) if self.waits_since(began) => {
                    self.clock.sleep(LOOK_AGAIN).await;
                }
                taken => return taken,
            }
        }
    }

    /// Tells whether another one is still waited for who works in the project.
    fn waits_since(&self, began: Timestamp) -> bool {
        self.clock.now().duration_since(began).unsigned_abs() < PATIENCE
    }

    /// Comes to an end when another host has taken over, and returns its epoch.
    async fn overtaken(&self, epoch: Epoch) -> Epoch {
        let mut known = None;
        loop {
            self.clock.sleep(self.watch).await;
            let found = match self.travels.glance().await {
                Ok(found) => found,
                Err(error) => {
                    tracing::warn!(%error, "it cannot be seen whether another host has taken over");
                    continue;
                }
            };
            if found == known {
                continue;
            }
            match self.travels.check(epoch).await {
                Err(TravelError::Overtaken { latest, .. }) => return latest,
                Ok(()) => known = found,
                // What else is wrong is told when the session is published.
                Err(error) => tracing::warn!(%error, "the branch of the run has changed"),
            }
        }
    }

    /// Waits for `work`, and tells meanwhile that something is going on.
    async fn beating<T>(&self, beat: Beat<'_>, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                () = self.clock.sleep(BEAT) => beat(RunProgress::default()),
            }
        }
    }
}

#[async_trait]
impl SessionHost for TravellingHost {
    async fn claim(&self, run: &RunId) -> Result<Epoch, SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: SessionKey::of_run(run),
            failure,
        };
        self.is_ours(run).map_err(failed)?;
        let seen = match self.travels.arrive().await {
            // Who works here is kept off when the run is taken over.
            Err(TravelError::InUse(_)) => self.travels.epoch().await,
            seen => seen,
        };
        let seen = seen.map_err(|error| failed(error.failure()))?;
        let here = self.inner.claim(run).await?;
        let Some(seen) = seen else {
            return Ok(here);
        };
        let next = seen.next().ok_or_else(|| {
            let why = format!("there is no epoch after {}", seen.0);
            failed(Failure::permanent("no_epoch", why))
        })?;
        Ok(here.max(next))
    }

    async fn look(&self, run: &RunId) -> Result<LedgerView, Failure> {
        self.is_ours(run)?;
        match self.travels.arrive().await {
            Ok(_) | Err(TravelError::InUse(_)) => {}
            Err(error @ TravelError::Away { .. }) => {
                // Nobody else can have come further, as far as is known.
                let is_ours = self.travels.has_the_run().await;
                if !is_ours.map_err(|error| error.failure())? {
                    return Err(error.failure());
                }
            }
            Err(error) => return Err(error.failure()),
        }
        self.inner.look(run).await
    }

    async fn attach_or_start(
        &self,
        key: &SessionKey,
        epoch: Epoch,
        session: HostedSession,
        beat: &(dyn Fn(RunProgress) + Send + Sync),
        cancelled: CancellationToken,
    ) -> Result<HostedOutcome, SessionHostError> {
        let failed = |failure| SessionHostError::Failed {
            key: key.clone(),
            failure,
        };
        InvalidValue::check_time("watch_every(0)", self.watch)
            .map_err(|invalid| failed(Failure::from(&invalid)))?;
        self.is_ours(&key.run).map_err(failed)?;
        self.take(key, epoch, beat, &cancelled).await?;
        let outcome = tokio::select! {
            biased;
            outcome = self.inner.attach_or_start(key, epoch, session, beat, cancelled) => outcome?,
            // Dropped, so that nothing is recorded here that nobody will see.
            latest = self.overtaken(epoch) => {
                return Err(SessionHostError::Fenced { asked: epoch, latest });
            }
        };
        let publishing = self.publish(epoch, Some(key.number));
        let published = self.beating(beat, publishing).await;
        published.map_err(|error| error.of_session(key, epoch))?;
        Ok(outcome)
    }

    async fn conclude(&self, epoch: Epoch, report: &RunReport) -> Result<(), SessionHostError> {
        let key = SessionKey::of_run(&report.run);
        let failed = |error: TravelError| error.of_session(&key, epoch);
        self.is_ours(&report.run)
            .map_err(|failure| SessionHostError::Failed {
                key: key.clone(),
                failure,
            })?;
        if self.travels.epoch().await.map_err(failed)?.is_none() {
            // No host has begun anything, so there is no branch, and none is made.
            return Ok(());
        }
        self.take_for_the_end(epoch).await.map_err(failed)?;
        self.inner.conclude(epoch, report).await?;
        self.publish(epoch, None).await.map_err(failed)
    }
}

impl fmt::Debug for TravellingHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TravellingHost")
            .field("travels", &self.travels)
            .finish_non_exhaustive()
    }
}
