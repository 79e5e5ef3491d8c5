//! A fleet, from its order to what it came to.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use autonoe_core::{Clock, Engine, InvalidValue, RunControl, SystemClock};
use tokio::sync::mpsc;

use super::asked::Asked;
use super::books::Books;
use super::outcome::{Decided, FleetDecision};
use super::{FleetHome, FleetOrder, FleetOrderError, FleetOutcome, FleetRunError};
use crate::{
    Accounts, AlertManager, Author, Coordinator, Executors, FleetEvent, FleetObserver, FleetSpans,
    HarnessFolder, HarnessLog, Serving, Worktrees,
};

/// Runs a fleet to its end, however often it has to be begun: one that was killed at any point is
/// gone on with by the next run of the same order.
///
/// - One process leads a fleet at a time; a second one is refused.
/// - Its order is kept under its name. What has happened is written down as it happens: decisions,
///   how members stand, accounts, a log, alerts.
/// - What the strategy decided is written down before anything follows from it, and is never decided
///   again. Then the fleet is concluded: the work of a winner is checked once more and merged, that
///   of the others goes; work of those that failed is kept and named.
/// - One that has ended gives what it came to.
///
/// To cancel `control` is to stop the fleet for good, as a stop by file is. Who wants to leave it for
/// later drops the future, and with it the engine.
///
/// ```no_run
/// use std::path::Path;
/// use std::sync::Arc;
///
/// use autonoe_core::RunControl;
/// use autonoe_harness::{
///     Arrangement, FleetHome, FleetOrder, FleetRun, HarnessManager, Roadmap, SubHarnessProgram,
/// };
/// use autonoe_process::Commands;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let project = Path::new("/home/ada/shop");
/// let text = std::fs::read_to_string(project.join("ROADMAP.md"))?;
/// let roadmap = Roadmap::parse("ROADMAP.md".as_ref(), &text)?;
/// let order = FleetOrder::of_tasks("login", &roadmap, Arrangement::AsTheyDepend)?;
///
/// let home = FleetHome::of(project);
/// let program = SubHarnessProgram::new("/usr/bin/autonoe").args(["harness", "work"]);
/// let engine = Arc::new(HarnessManager::new(home.path(), program));
/// let git = Commands::unconfined("/").env("PATH", "/usr/bin:/bin");
/// let worktrees = home.worktrees("login", git).await?;
///
/// let run = FleetRun::new(home, order, engine).worktrees(worktrees);
/// let outcome = run.run(&RunControl::new()).await?;
///
/// assert!(outcome.result.success);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is started before `run`"]
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
    pub(super) workshop: Option<Workshop>,
    every: Duration,
    patience: Option<Duration>,
}

/// Makes executors for a folder.
pub(super) type Workshop = Arc<dyn Fn(&Path) -> Executors + Send + Sync>;

impl FleetRun {
    /// Makes the run of an order, whose members are runs on `engine`: usually a
    /// [`HarnessManager`](crate::HarnessManager) at the path of `home`.
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
            workshop: None,
            every: Serving::EVERY,
            patience: None,
        }
    }

    /// Sets the clock; the machine's by default.
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Adds somebody who is told what happens.
    pub fn observer(mut self, observer: impl FleetObserver + 'static) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Opens spans for the fleet and its members. The trace is recorded with the fleet: when another
    /// process resumes it, its spans are in the same trace, below the span of the first coordinator.
    pub fn spans(mut self, spans: Arc<FleetSpans>) -> Self {
        self.spans = Some(spans);
        self
    }

    /// Says who is told of alerts, and where they are kept; [`FleetHome::alerts_of`] by default.
    pub fn alerts(mut self, alerts: AlertManager) -> Self {
        self.alerts = Some(Arc::new(alerts));
        self
    }

    /// Says where members that are isolated work. They are those of the fleet of this name.
    pub fn worktrees(mut self, worktrees: Worktrees) -> Self {
        self.worktrees = Some(worktrees);
        self
    }

    /// Says in whose name the work of a winner is merged.
    pub fn author(mut self, author: Author) -> Self {
        self.author = author;
        self
    }

    /// Says with what the work of a winner is checked before it is merged: the executors of a
    /// folder, as for [`TaskLoop::new`](crate::TaskLoop::new). Without that, the work of a winner
    /// whose tasks have criteria is not merged.
    pub fn checked_by(
        mut self,
        workshop: impl Fn(&Path) -> Executors + Send + Sync + 'static,
    ) -> Self {
        self.workshop = Some(Arc::new(workshop));
        self
    }

    /// Sets how often it is looked what the fleet is asked for; every second by default.
    pub fn every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    /// Sets how long a member that is told to stop may take to end; two minutes by default.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Runs the fleet to its end, and returns what it came to.
    ///
    /// # Errors
    ///
    /// The order cannot be carried out, worktrees cannot be made, another process leads the fleet, another order has its name,
    /// or something cannot be written down. What members do goes on.
    pub async fn run(&self, control: &RunControl) -> Result<FleetOutcome, FleetRunError> {
        self.order.check()?;
        InvalidValue::check_time("every(0)", self.every)?;
        self.has_what_it_needs()?;
        self.can_be_isolated().await?;
        let desk = self.home.make_desk(&self.order.name)?;
        let meta = self.home.meta().await?;
        let record = self.keep_order(&meta).await?;
        if let Some(result) = record.result {
            return self.again(&meta, result).await;
        }
        let _leading = self.take_lead(&desk).await?;
        // Before the lead was taken, somebody else may have had it.
        let record = self.keep_order(&meta).await?;
        if let Some(result) = record.result {
            return self.again(&meta, result).await;
        }
        let alerts = match &self.alerts {
            Some(alerts) => alerts.clone(),
            None => Arc::new(self.home.alerts_of(&self.order.name)?),
        };
        let log = HarnessLog::open(&desk)?;
        let mut books = Books::open(meta, record, self.clock.clone(), log, alerts.clone()).await?;
        let _open = match &self.spans {
            Some(spans) => {
                books.trace(spans).await?;
                spans.open(&self.order.name, self.order.strategy.typetag_name());
                Some(OpenSpans(spans))
            }
            None => None,
        };
        let decided = match books.decided().await? {
            Some(decided) => decided,
            None => {
                self.can_be_gone_on_with()?;
                self.lead(&mut books, desk, control).await?
            }
        };
        let outcome = self.conclude(&mut books, decided).await?;
        alerts.flush().await;
        Ok(outcome)
    }

    /// Leads the members until the strategy is done, and writes down what it came to.
    async fn lead(
        &self,
        books: &mut Books,
        desk: HarnessFolder,
        control: &RunControl,
    ) -> Result<Decided, FleetRunError> {
        let (tell, mut told) = mpsc::unbounded_channel();
        let coordinator = self.coordinator(tell)?.ended_before(books.ended());
        let fleet = self.order.name.clone();
        books
            .save_accounts(&Accounts::new(fleet, self.order.budget))
            .await?;
        let own = RunControl::new();
        let mut asked = Asked::new(desk, own.clone());
        let stopped = asked.stopped();
        asked.look();
        let report = {
            let mut coordinating = std::pin::pin!(coordinator.run(&own));
            let mut listening = std::pin::pin!(asked.listen(control, &*self.clock, self.every));
            loop {
                tokio::select! {
                    biased;
                    report = &mut coordinating => break report?,
                    // What happened is written down before more does.
                    Some(event) = told.recv() => books.note(&event).await?,
                    () = &mut listening => {}
                }
            }
        };
        while let Ok(event) = told.try_recv() {
            books.note(&event).await?;
        }
        books.save_accounts(&report.accounts).await?;
        let decided = Decided {
            stopped: stopped
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
            result: report.result,
            cut_short: report.cut_short,
            left_behind: report.left_behind,
        };
        let decision = FleetDecision::Decided(Box::new(decided.clone()));
        books.decide(&decision).await?;
        Ok(decided)
    }

    fn coordinator(
        &self,
        tell: mpsc::UnboundedSender<FleetEvent>,
    ) -> Result<Coordinator, FleetRunError> {
        let order = &self.order;
        let no_json = |error: serde_json::Error| {
            FleetOrderError::new(&order.name, vec![format!("it is no JSON: {error}")])
        };
        let mut coordinator = Coordinator::new(
            order.name.clone(),
            self.engine.clone(),
            order.strategy.clone(),
        )
        .members(order.specs().map_err(no_json)?)
        .max_concurrent(order.max_concurrent)
        .time(order.time)
        .budget(order.budget)
        .clock(self.clock.clone())
        .observer(Arc::new(move |event: &FleetEvent| {
            // Nobody listens any more once the run is over.
            let _ = tell.send(event.clone());
        }));
        if let Some(patience) = self.patience {
            coordinator = coordinator.patience(patience);
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
