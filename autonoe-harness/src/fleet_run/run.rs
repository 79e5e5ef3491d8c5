//! Durable run of a fleet, from its order to its report.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use autonoe_core::RunControl;
use autonoe_core::engine::Engine;
use autonoe_core::event::InvalidValue;
use autonoe_core::time::{Clock, SystemClock};
use tokio::sync::mpsc;

use super::fleet_recorder::{FleetDecision, FleetRecorder};
use super::requests::RequestForwarder;
use super::{FleetHome, FleetOrder, FleetOrderError, FleetRunError};
use crate::alert::AlertManager;
use crate::budget::Account;
use crate::coordinate::{Coordinator, FleetEvent, FleetObserver, FleetReport, FleetSpans};
use crate::executor::Executors;
use crate::folder::{MemberFolder, MemberLog};
use crate::isolation::{Author, Worktrees};
use crate::serve::MemberServer;

/// Runs a fleet until it ends. After a kill at any point, the next run of the same order resumes
/// the fleet.
///
/// - One process leads a fleet at a time; a second one is refused.
/// - The order is recorded under the name of the fleet. Events are recorded as they happen:
///   decisions, states of members, accounts, a log, alerts.
/// - The decision of the strategy is recorded before any consequence, and is never made again. Then
///   the fleet is concluded: the work of a winner is verified once more and merged, and that of the
///   losers is discarded; work of failed members is kept and named.
/// - Running a fleet that has ended returns its report.
///
/// Cancelling `control` stops the fleet for good, like a stop request by file. To leave the fleet
/// for later, drop the future, and with it the engine.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use autonoe_core::RunControl;
/// use autonoe_harness::{
///     FleetHome, FleetOrder, FleetRun, Graph, MemberManager, Roadmap, MemberCommand,
/// };
/// use autonoe_process::ProcessRunner;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let project = Path::new("/home/ada/shop");
/// let text = std::fs::read_to_string(project.join("ROADMAP.md"))?;
/// let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), &text)?;
/// let order = FleetOrder::from_tasks("login", &roadmap, Graph::default())?;
///
/// let home = FleetHome::new(project);
/// let program = MemberCommand::new("/usr/bin/autonoe").args(["harness", "work"]);
/// let engine = Arc::new(MemberManager::new(home.path(), program));
/// let git = ProcessRunner::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let worktrees = home.worktrees("login", git).await?;
///
/// let run = FleetRun::new(home, order, engine).worktrees(worktrees);
/// let report = run.run(&RunControl::new()).await?;
///
/// assert!(report.success);
/// # Ok(())
/// # }
/// ```
#[must_use = "a run does nothing before `run`"]
pub struct FleetRun {
    pub(super) home: FleetHome,
    pub(super) order: FleetOrder,
    engine: Arc<dyn Engine>,
    pub(super) clock: Arc<dyn Clock>,
    observers: Vec<Arc<dyn FleetObserver>>,
    spans: Option<Arc<FleetSpans>>,
    alerts: Option<Arc<AlertManager>>,
    pub(super) worktrees: Option<Worktrees>,
    pub(super) author: Author,
    pub(super) executor_factory: Option<ExecutorFactory>,
    every: Duration,
    stop_timeout: Option<Duration>,
}

/// Builds the executors for a folder.
pub(super) type ExecutorFactory = Arc<dyn Fn(&Path) -> Executors + Send + Sync>;

impl FleetRun {
    /// Creates the run of an order, whose members are runs on `engine`: usually a
    /// [`MemberManager`](crate::manager::MemberManager) at the path of `home`.
    pub fn new(home: FleetHome, order: FleetOrder, engine: impl Engine + 'static) -> Self {
        Self {
            home,
            order,
            engine: Arc::new(engine),
            clock: Arc::new(SystemClock),
            observers: Vec::new(),
            spans: None,
            alerts: None,
            worktrees: None,
            author: Author::default(),
            executor_factory: None,
            every: MemberServer::POLL_INTERVAL,
            stop_timeout: None,
        }
    }

    /// Sets the clock; the system clock by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Adds an observer of fleet events.
    pub fn observer(mut self, observer: impl FleetObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Opens spans for the fleet and its members. The trace is recorded with the fleet: when
    /// another process resumes it, its spans are in the same trace, below the span of the first
    /// coordinator.
    pub fn spans(mut self, spans: Arc<FleetSpans>) -> Self {
        self.spans = Some(spans);
        self
    }

    /// Sets the alert manager; that of [`FleetHome::alert_manager`] by default.
    pub fn alerts(mut self, alerts: AlertManager) -> Self {
        self.alerts = Some(Arc::new(alerts));
        self
    }

    /// Sets the worktrees of isolated members. They must be those of the fleet of this name.
    pub fn worktrees(mut self, worktrees: Worktrees) -> Self {
        self.worktrees = Some(worktrees);
        self
    }

    /// Sets the author of the merge of a winner's work.
    pub fn author(mut self, author: Author) -> Self {
        self.author = author;
        self
    }

    /// Sets the executors that verify the work of a winner before it is merged, by folder, as for
    /// [`TaskLoop::new`](crate::work::TaskLoop::new). Without them, the work of a winner whose
    /// tasks have criteria is not merged.
    pub fn verification_executors(
        mut self,
        executor_factory: impl Fn(&Path) -> Executors + Send + Sync + 'static,
    ) -> Self {
        self.executor_factory = Some(Arc::new(executor_factory));
        self
    }

    /// Sets the poll interval of requests to the fleet; one second by default.
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Sets how long a stopped member may take to end; two minutes by default.
    pub fn stop_timeout(mut self, stop_timeout: Duration) -> Self {
        self.stop_timeout = Some(stop_timeout);
        self
    }

    /// Runs the fleet until it ends, and returns its report.
    ///
    /// # Errors
    ///
    /// The order is invalid, worktrees cannot be created, another process leads the fleet, another
    /// order has its name, or something cannot be recorded. Running members continue.
    pub async fn run(&self, control: &RunControl) -> Result<FleetReport, FleetRunError> {
        self.order.validate()?;
        InvalidValue::check_time("every(0)", self.every)?;
        self.check_requirements()?;
        self.check_isolation().await?;
        let folder = self.home.create_coordinator_folder(&self.order.name)?;
        let meta = self.home.meta().await?;
        let record = self.record_order(&meta).await?;
        if let Some(report) = record.result {
            self.complete_member_records().await;
            return Ok(report);
        }
        let _leading = self.acquire_leadership(&folder).await?;
        // Another process may have led the fleet before this one acquired the leadership.
        let record = self.record_order(&meta).await?;
        if let Some(report) = record.result {
            return Ok(report);
        }
        let alerts = match &self.alerts {
            Some(alerts) => alerts.clone(),
            None => Arc::new(self.home.alert_manager(&self.order.name)?),
        };
        let log = MemberLog::open(&folder)?;
        let mut recorder = FleetRecorder::open(
            meta,
            record,
            self.order.budget.budget,
            self.clock.clone(),
            log,
            alerts.clone(),
        )
        .await?;
        let _open = match &self.spans {
            Some(spans) => {
                recorder.trace(spans).await?;
                spans.open(&self.order.name, self.order.strategy.typetag_name());
                Some(OpenSpans(spans))
            }
            None => None,
        };
        let report = match recorder.recorded_decision().await? {
            Some(mut report) => {
                // It includes verifications of the winner that an earlier process paid for.
                if let Some(account) = recorder.saved_account().await? {
                    report.account = account;
                }
                report
            }
            None => {
                self.check_journals()?;
                self.check_started_members()?;
                self.coordinate(&mut recorder, folder, control).await?
            }
        };
        let report = self.conclude(&mut recorder, report).await?;
        alerts.flush().await;
        Ok(report)
    }

    /// Leads the members until the strategy has finished, and records its decision.
    async fn coordinate(
        &self,
        recorder: &mut FleetRecorder,
        folder: MemberFolder,
        control: &RunControl,
    ) -> Result<FleetReport, FleetRunError> {
        let (events, mut received) = mpsc::unbounded_channel();
        let coordinator = self
            .coordinator(events)?
            .ended_before(recorder.ended_members());
        recorder
            .save_accounts(&Account::new(self.order.budget))
            .await?;
        let own = RunControl::new();
        let mut requests = RequestForwarder::new(folder, own.clone());
        let stopped = requests.stop_reason();
        requests.poll();
        let mut report = {
            let mut coordinating = std::pin::pin!(coordinator.run(&own));
            let mut listening = std::pin::pin!(requests.forward(control, &*self.clock, self.every));
            loop {
                tokio::select! {
                    biased;
                    report = &mut coordinating => break report?,
                    // Events are recorded before more of them happen.
                    Some(event) = received.recv() => recorder.record(&event).await?,
                    () = &mut listening => {}
                }
            }
        };
        while let Ok(event) = received.try_recv() {
            recorder.record(&event).await?;
        }
        recorder.save_accounts(&report.account).await?;
        report.stopped = stopped
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let decision = FleetDecision::Decided(Box::new(report.clone()));
        recorder.record_decision(&decision).await?;
        Ok(report)
    }

    fn coordinator(
        &self,
        events: mpsc::UnboundedSender<FleetEvent>,
    ) -> Result<Coordinator, FleetRunError> {
        let order = &self.order;
        let specs = order.specs();
        let specs = specs.map_err(|error| FleetOrderError::not_serialised(&order.name, &error))?;
        let mut coordinator = Coordinator::new(
            order.name.clone(),
            self.engine.clone(),
            order.strategy.clone(),
        )
        .members(specs)
        .max_concurrent(order.max_concurrent)
        .time(order.time)
        .budget(order.budget)
        .clock(self.clock.clone())
        .observer(Arc::new(move |event: &FleetEvent| {
            // The receiver is gone once the run has ended.
            let _ = events.send(event.clone());
        }));
        if let Some(stop_timeout) = self.stop_timeout {
            coordinator = coordinator.stop_timeout(stop_timeout);
        }
        let spans = self.spans.clone().map(|it| it as Arc<dyn FleetObserver>);
        let observers = self.observers.iter().cloned().chain(spans);
        Ok(observers.fold(coordinator, Coordinator::observer))
    }
}

/// Closes the spans of a fleet when its run ends or is dropped.
struct OpenSpans<'s>(&'s FleetSpans);

impl Drop for OpenSpans<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl fmt::Debug for FleetRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FleetRun")
            .field("home", &self.home)
            .field("fleet", &self.order.name)
            .finish_non_exhaustive()
    }
}
