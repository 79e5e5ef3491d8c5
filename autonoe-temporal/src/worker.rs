//! What carries out runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::{JOURNAL_JOB, JobRunner};
use temporalio_client::Client;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder, WorkerTuner};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio_util::sync::CancellationToken;

use crate::TemporalSettings;
use crate::connecting::{ConnectError, connect};
use crate::fleet::FleetWorkflow;
use crate::job::{JobActivities, JobWorkflow, Runners};
use crate::sessions::{SessionActivities, SessionHosts, SessionsWorkflow};
use crate::wire::{aside_queue, host_queue};

/// Who a worker is, and how much it does at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerSettings {
    /// The name of its host. Runs for that host are taken too.
    pub host: String,
    /// How many runs or sessions it carries out at once, for its host and for anybody each.
    pub slots: usize,
    /// How long it goes on with what is under way after it was told to stop. What is not done then
    /// is left to others.
    pub farewell: Duration,
}

impl WorkerSettings {
    /// Makes those of a worker on a host.
    pub fn on(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            slots: 8,
            farewell: Duration::ZERO,
        }
    }

    /// Carries out so many runs at once.
    #[must_use]
    pub fn slots(mut self, slots: usize) -> Self {
        self.slots = slots;
        self
    }

    /// Goes on for so long with what is under way after it was told to stop.
    #[must_use]
    pub fn farewell(mut self, farewell: Duration) -> Self {
        self.farewell = farewell;
        self
    }
}

/// Why a worker does not work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// There is no server.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// It could not begin.
    #[error("the worker cannot begin")]
    Begin(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It failed while it was running.
    #[error("the worker failed")]
    BrokeOff(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Takes runs from the server and carries them out.
///
/// It polls two queues: that of all workers, and that of its host; a third one, if it has sessions or
/// journals, for what holds no slot. It decides nothing by itself: a worker that dies, or is told to
/// stop, leaves its runs to others.
///
/// ```no_run
/// use std::sync::Arc;
///
/// # use autonoe_core::{JobRunner, RunDesk, RunOutcome, RunSpec};
/// # struct Echo;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Echo {
/// #     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
/// #         RunOutcome::succeeded(run.input.clone())
/// #     }
/// # }
/// use autonoe_temporal::{TemporalSettings, TemporalWorker, WorkerSettings};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn work() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = TemporalSettings::at("http://127.0.0.1:7233");
/// let worker = TemporalWorker::connect(settings, WorkerSettings::on("build-1"))
///     .await?
///     .job("echo", Arc::new(Echo));
///
/// worker.run(CancellationToken::new()).await?;
/// # Ok(())
/// # }
/// ```
pub struct TemporalWorker {
    client: Client,
    settings: TemporalSettings,
    worker: WorkerSettings,
    runners: Runners,
    hosts: Option<Arc<dyn SessionHosts>>,
    reads_journals: bool,
}

impl TemporalWorker {
    /// Finds the server.
    ///
    /// # Errors
    ///
    /// There is none.
    pub async fn connect(
        settings: TemporalSettings,
        worker: WorkerSettings,
    ) -> Result<Self, ConnectError> {
        let identity = format!("{}@{}", std::process::id(), worker.host);
        let client = connect(&settings, &identity).await?;
        Ok(Self {
            client,
            settings,
            worker,
            runners: Runners::default(),
            hosts: None,
            reads_journals: false,
        })
    }

    /// Carries out runs of a kind.
    #[must_use]
    pub fn job(mut self, kind: impl Into<String>, runner: Arc<dyn JobRunner>) -> Self {
        self.runners.add(kind.into(), runner);
        self
    }

    /// Carries out sessions, of runs of the kind [`SESSIONS_JOB`](crate::SESSIONS_JOB).
    #[must_use]
    pub fn sessions(mut self, hosts: Arc<dyn SessionHosts>) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Serves pages of journals to runs of the kind [`JOURNAL_JOB`] that are placed on this host.
    /// They need no slot, so a reader does not wait for the end of a session.
    #[must_use]
    pub fn journals(mut self, runner: Arc<dyn JobRunner>) -> Self {
        self.runners.add(JOURNAL_JOB.to_owned(), runner);
        self.reads_journals = true;
        self
    }

    /// Works until `stopped`, on the runtime of tokio that it is called on. The future stays on
    /// its thread.
    ///
    /// # Errors
    ///
    /// It cannot begin, or fails. The worker waits for a server that is unreachable.
    pub async fn run(self, stopped: CancellationToken) -> Result<(), WorkerError> {
        let runtime = Runtime::from_current_tokio(Default::default()).map_err(begin)?;
        let host = host_queue(&self.settings.queue, &self.worker.host);
        let mut shared = self.worker(&runtime, &self.settings.queue)?;
        let mut own = self.worker(&runtime, &host)?;
        let mut aside = match self.reads_journals || self.hosts.is_some() {
            true => Some(self.aside(&runtime)?),
            false => None,
        };
        let (stop_shared, stop_own) = (shared.shutdown_handle(), own.shutdown_handle());
        let stop_aside = aside.as_ref().map(Worker::shutdown_handle);
        let aside = async {
            match &mut aside {
                Some(aside) => aside.run().await,
                None => Ok(()),
            }
        };
        let all = async { tokio::try_join!(shared.run(), own.run(), aside) };
        let stopping = async {
            stopped.cancelled().await;
            stop_shared();
            stop_own();
            if let Some(stop) = stop_aside {
                stop();
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = all => {
                ended.map_err(|error| WorkerError::BrokeOff(error.into()))?;
                Ok(())
            }
            () = stopping => Ok(()),
        }
    }

    fn worker(&self, runtime: &Runtime, queue: &str) -> Result<Worker, WorkerError> {
        let pace = self.settings.pace;
        let mut options = WorkerOptions::new(queue);
        if let Some(sessions) = self.session_activities() {
            options = options.register_activities(sessions);
        }
        let options = options
            .tuner(tuner(self.worker.slots))
            .max_heartbeat_throttle_interval(pace.beat)
            .default_heartbeat_throttle_interval(pace.beat)
            .sticky_queue_schedule_to_start_timeout(pace.sticky)
            .graceful_shutdown_period(self.worker.farewell)
            .register_activities(JobActivities::new(self.runners.clone()))
            .register_workflow::<JobWorkflow>()
            .and_then(|options| options.register_workflow::<SessionsWorkflow>())
            .and_then(|options| options.register_workflow::<FleetWorkflow>())
            .map_err(begin)?
            .build();
        Worker::new(runtime, self.client.clone(), options).map_err(begin)
    }

    fn session_activities(&self) -> Option<SessionActivities> {
        let host = host_queue(&self.settings.queue, &self.worker.host);
        let hosts = self.hosts.clone()?;
        Some(SessionActivities::new(hosts, host))
    }

    /// Makes what reads journals and writes down the ends of runs, and does nothing else. Neither is
    /// to wait for a slot.
    fn aside(&self, runtime: &Runtime) -> Result<Worker, WorkerError> {
        let pace = self.settings.pace;
        let queue = aside_queue(&self.settings.queue, &self.worker.host);
        let mut options = WorkerOptions::new(queue);
        if let Some(sessions) = self.session_activities() {
            options = options.register_activities(sessions);
        }
        let options = options
            .tuner(tuner(STEPS))
            .max_heartbeat_throttle_interval(pace.beat)
            .default_heartbeat_throttle_interval(pace.beat)
            .register_activities(JobActivities::new(self.runners.clone()))
            .build();
        Worker::new(runtime, self.client.clone(), options).map_err(begin)
    }
}

/// Has so many activities at once.
fn tuner(slots: usize) -> WorkerTuner {
    let steps = FixedSizeSlotSupplier::new(STEPS);
    let tuner = TunerHolder::builder()
        .workflow_task_slot_supplier(steps)
        .activity_task_slot_supplier(FixedSizeSlotSupplier::new(slots))
        .local_activity_task_slot_supplier(steps)
        .nexus_task_slot_supplier(steps)
        .build();
    tuner.into()
}

/// Enough for steps of workflows, which take no time.
const STEPS: usize = 100;

fn begin(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> WorkerError {
    WorkerError::Begin(error.into())
}

impl fmt::Debug for TemporalWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemporalWorker")
            .field("settings", &self.settings)
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}
