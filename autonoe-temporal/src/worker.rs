//! [`TemporalWorker`]: executes runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use autonoe_core::engine::JobRunner;
use futures::future::try_join_all;
use temporalio_client::Client;
use temporalio_sdk::runtime::worker_tuner::{FixedSizeSlotSupplier, TunerHolder, WorkerTuner};
use temporalio_sdk::{Runtime, Worker, WorkerOptions};
use tokio_util::sync::CancellationToken;

use crate::TemporalSettings;
use crate::connection::{ConnectError, connect};
use crate::fleet::FleetWorkflow;
use crate::job::{JobActivities, JobWorkflow, Runners};
use crate::journal::{JournalActivities, JournalSource};
use crate::sessions::{SessionActivities, SessionHosts, SessionsWorkflow};
use crate::wire::{host_queue, side_queue};

/// Name and capacity of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerSettings {
    /// The name of its host. The worker also executes runs that are bound to that host.
    pub host: String,
    /// The number of concurrent runs or sessions, separately for its host's queue and the shared
    /// queue.
    pub slots: usize,
    /// Time that work in progress continues after a stop request. Unfinished work is left to other
    /// workers.
    pub shutdown_grace: Duration,
}

impl WorkerSettings {
    /// Creates the settings of a worker on a host.
    pub fn for_host(host: impl Into<String>) -> Self {
        Self {
            host: host.into(),
            slots: 8,
            shutdown_grace: Duration::ZERO,
        }
    }
}

/// Error of a worker.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// The server cannot be reached or used.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The worker could not start.
    #[error("cannot start the worker")]
    Start(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The worker failed while it was running.
    #[error("the worker failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// Polls the server for runs and executes them.
///
/// It polls two queues: the shared queue of all workers, and the queue of its host. If it has
/// sessions or journals, it also polls a side queue for activities that use no slot. It makes no
/// decisions: a worker that dies or is stopped leaves its runs to others.
///
/// ```no_run
/// use std::sync::Arc;
///
/// # use autonoe_core::engine::{JobRunner, JobContext, RunOutcome, RunSpec};
/// # struct Echo;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Echo {
/// #     async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
/// #         RunOutcome::succeeded(run.input.clone())
/// #     }
/// # }
/// use autonoe_temporal::{TemporalSettings, TemporalWorker, WorkerSettings};
/// use tokio_util::sync::CancellationToken;
///
/// # async fn work() -> Result<(), Box<dyn std::error::Error>> {
/// let settings = TemporalSettings::new("http://127.0.0.1:7233");
/// let worker = TemporalWorker::connect(settings, WorkerSettings::for_host("build-1"))
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
    journals: Option<Arc<dyn JournalSource>>,
}

impl TemporalWorker {
    /// Connects to the server.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or used.
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
            journals: None,
        })
    }

    /// Registers the runner for jobs of a kind.
    #[must_use]
    pub fn job(mut self, kind: impl Into<String>, runner: Arc<dyn JobRunner>) -> Self {
        self.runners.insert(kind.into(), runner);
        self
    }

    /// Executes the sessions of runs of the kind [`SESSIONS_JOB`](crate::SESSIONS_JOB).
    #[must_use]
    pub fn sessions(mut self, hosts: Arc<dyn SessionHosts>) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// Serves pages of the journals on this host. They use no slot, so a reader does not wait for
    /// the end of a session.
    #[must_use]
    pub fn journals(mut self, journals: Arc<dyn JournalSource>) -> Self {
        self.journals = Some(journals);
        self
    }

    /// Runs until `stopped` is cancelled, on the current tokio runtime. The future is not `Send`.
    ///
    /// # Errors
    ///
    /// The worker cannot start, or fails. It keeps waiting for an unreachable server.
    pub async fn run(self, stopped: CancellationToken) -> Result<(), WorkerError> {
        let runtime = Runtime::from_current_tokio(Default::default()).map_err(start_error)?;
        let (queue, host) = (&self.settings.queue, &self.worker.host);
        let mut workers = vec![
            self.worker(&runtime, queue.clone())?,
            self.worker(&runtime, host_queue(queue, host))?,
        ];
        if self.journals.is_some() || self.hosts.is_some() {
            workers.push(self.side_worker(&runtime)?);
        }
        let stops: Vec<_> = workers.iter().map(Worker::shutdown_handle).collect();
        let all = try_join_all(workers.iter_mut().map(Worker::run));
        let stopping = async {
            stopped.cancelled().await;
            stops.iter().for_each(|stop| stop());
            std::future::pending::<()>().await;
        };
        tokio::select! {
            ended = all => ended.map(drop).map_err(|error| WorkerError::Failed(error.into())),
            () = stopping => Ok(()),
        }
    }

    /// Creates a worker for runs and their sessions.
    fn worker(&self, runtime: &Runtime, queue: String) -> Result<Worker, WorkerError> {
        let mut options = self.options(queue, self.worker.slots);
        options.graceful_shutdown_period = Some(self.worker.shutdown_grace);
        options.register_activities(JobActivities::new(self.runners.clone()));
        options
            .register_workflow::<JobWorkflow>()
            .map_err(start_error)?;
        options
            .register_workflow::<SessionsWorkflow>()
            .map_err(start_error)?;
        options
            .register_workflow::<FleetWorkflow>()
            .map_err(start_error)?;
        Worker::new(runtime, self.client.clone(), options).map_err(start_error)
    }

    /// Creates the worker of the side queue, which only reads journals and records the ends of
    /// runs. These must not wait for a slot.
    fn side_worker(&self, runtime: &Runtime) -> Result<Worker, WorkerError> {
        let queue = side_queue(&self.settings.queue, &self.worker.host);
        let mut options = self.options(queue, STEPS);
        if let Some(journals) = self.journals.clone() {
            options.register_activities(JournalActivities::new(journals));
        }
        Worker::new(runtime, self.client.clone(), options).map_err(start_error)
    }

    /// Returns the options that all workers share.
    fn options(&self, queue: String, slots: usize) -> WorkerOptions {
        let timeouts = self.settings.timeouts;
        let mut options = WorkerOptions::new(queue)
            .tuner(tuner(slots))
            .max_heartbeat_throttle_interval(timeouts.heartbeat_interval)
            .default_heartbeat_throttle_interval(timeouts.heartbeat_interval)
            .sticky_queue_schedule_to_start_timeout(timeouts.sticky)
            .build();
        if let Some(hosts) = self.hosts.clone() {
            let host = host_queue(&self.settings.queue, &self.worker.host);
            options.register_activities(SessionActivities::new(hosts, host));
        }
        options
    }
}

/// Limits the number of concurrent activities.
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

/// Enough for workflow tasks, which are short.
const STEPS: usize = 100;

fn start_error(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> WorkerError {
    WorkerError::Start(error.into())
}

impl fmt::Debug for TemporalWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemporalWorker")
            .field("settings", &self.settings)
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}
