//! [`RunUi`], the user interface of runs, flows and questions: output, telemetry and signals.

use std::mem;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_app::telemetry::{Telemetry, parent_trace};
use autonoe_app::{
    AgentOptions, LiveStatusWriter, ModelsFile, RunAlerts, SessionSetup, destructive_warning,
    invalid_sandbox_warning,
};
use autonoe_core::event::TraceContext;
use autonoe_core::gate::policy::Destructive;
use autonoe_core::project::{Journal, RequestForwarder, RunTimeline};
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::{Project, RunControl, RunId, RunObserver};

use super::runtime::runtime;
use super::{notify, signals};
use crate::args::{OutputArgs, OutputFormat};
use crate::cli_env::CliEnv;
use crate::error::CliError;
use crate::present::{
    DeniedCall, Detail, FlowLines, JsonLines, Presenter, QuietKeyboard, Screen, denial_summary,
    start_logging,
};

/// Maximum number of remedies that are listed after a run.
const LISTED_REMEDIES: usize = 5;

/// Poll interval of the requests of other processes.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// User interface of a run, a flow or a question: output, telemetry and signals.
pub(super) struct RunUi {
    screen: Screen,
    presenter: Arc<Presenter>,
    events: Option<Arc<JsonLines>>,
    alerts: Option<Arc<RunAlerts>>,
    telemetry: Telemetry,
    trace: Option<TraceContext>,
    is_quiet: bool,
    /// Requests of other processes to the run.
    requests: Option<Arc<RequestForwarder>>,
    /// The current activity for other processes.
    live: Option<Arc<LiveStatusWriter>>,
}

impl RunUi {
    /// Opens the screen and the telemetry, and prints warnings about the sandbox.
    pub(super) fn open(
        agent: &AgentOptions,
        output: &OutputArgs,
        project: &Project,
        models: &ModelsFile,
        env: &CliEnv,
    ) -> Self {
        let detail = detail(output);
        let screen = Screen::new(env, detail == Detail::Normal);
        let presenter = Arc::new(Presenter::new(screen.clone(), detail));
        let trace = parent_trace(env);
        let telemetry = Telemetry::start(models, project.root(), env, trace.as_ref(), None)
            .unwrap_or_else(|error| {
                presenter.warn(&format!("telemetry is off: {error}"));
                Telemetry::default()
            });
        start_logging(&screen, detail, telemetry.spans());
        if let Some(warning) = agent.sandbox(env).warning() {
            presenter.warn(warning);
        }
        if let Some(warning) = invalid_sandbox_warning(agent.no_sandbox, env) {
            presenter.warn(&warning);
        }
        Self {
            screen,
            events: events(output, &presenter),
            presenter,
            alerts: None,
            telemetry,
            trace,
            is_quiet: detail == Detail::Quiet,
            requests: None,
            live: None,
        }
    }

    /// Lets other processes watch and control the run of `project` in its journal. Without a
    /// thread for the current activity, they only see the journal.
    pub(super) fn connect(&mut self, project: &Project) {
        self.requests = Some(Arc::new(RequestForwarder::new(project)));
        self.live = LiveStatusWriter::start(project).ok().map(Arc::new);
    }

    /// Sends notifications about the run from now on.
    pub(super) fn notify(&mut self, alerts: Option<Arc<RunAlerts>>) {
        self.alerts = alerts;
    }

    /// Returns the observers that print events, send notifications, and connect the run with other
    /// processes.
    pub(super) fn observers(&self) -> Vec<Arc<dyn RunObserver>> {
        let optional: [Option<Arc<dyn RunObserver>>; 4] = [
            self.events.clone().map(|events| events as _),
            self.alerts.clone().map(|alerts| alerts as _),
            self.requests.clone().map(|requests| requests as _),
            self.live.clone().map(|live| live as _),
        ];
        let mut observers: Vec<Arc<dyn RunObserver>> = vec![self.presenter.clone()];
        observers.extend(optional.into_iter().flatten());
        observers
    }

    /// Prints a conversation from now on, and returns the presenter.
    pub(super) fn start_conversation(&self) -> Arc<Presenter> {
        self.presenter.start_conversation(self.events.is_none());
        self.presenter.clone()
    }

    /// Returns the printer of lines and warnings.
    pub(super) fn presenter(&self) -> Arc<Presenter> {
        self.presenter.clone()
    }

    /// Returns an error if standard output did not get everything.
    pub(super) fn check_written(&self) -> Result<(), CliError> {
        self.presenter.check_written()?;
        self.events
            .as_ref()
            .map_or(Ok(()), |events| events.check_complete())
    }

    /// Prints a warning that the run itself does not emit.
    pub(super) fn warn(&self, message: &str) {
        self.presenter.warn(message);
    }

    /// Prints warnings about destructive commands and the backend, and the data that telemetry
    /// sends.
    pub(super) fn print_warnings(&self, destructive: Destructive, backend: &[String]) {
        if let Some(warning) = destructive_warning(destructive) {
            self.warn(warning);
        }
        for warning in backend.iter().chain(self.telemetry.warnings()) {
            self.warn(warning);
        }
    }

    /// Returns the observer that prints the events of a flow.
    pub(super) fn flow_lines(&self) -> Arc<FlowLines> {
        Arc::new(FlowLines::new(self.presenter.clone()))
    }

    /// Returns a function that configures sessions with `setup`, the observers and the telemetry.
    pub(super) fn configuration(
        &self,
        setup: SessionSetup,
    ) -> impl Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync + 'static {
        let observers = self.observers();
        let (trace, telemetry) = (self.trace.clone(), self.telemetry.sessions());
        move |runner| {
            let runner = telemetry.apply(setup.apply(runner), trace.clone());
            observers
                .iter()
                .cloned()
                .fold(runner, SessionRunnerBuilder::observer)
        }
    }

    /// Runs `play` to completion, and delivers the last notifications. Stop signals cancel
    /// `control`, and requests of [connected](Self::connect) processes are forwarded to it.
    pub(super) fn run_interruptible<T>(
        &mut self,
        control: &RunControl,
        play: impl Future<Output = T>,
    ) -> Result<T, CliError> {
        let presenter = self.presenter.clone();
        let alerts = self.alerts.clone();
        let requests = self.requests.clone();
        self.block_on(async {
            let watch = tokio::spawn(signals::watch(control.clone(), presenter.clone()));
            let forward = requests.map(|requests| {
                let control = control.clone();
                tokio::spawn(async move { requests.forward(&control, POLL_INTERVAL).await })
            });
            if let Some(alerts) = &alerts {
                let presenter = presenter.clone();
                let warn = move |text: &str| presenter.warn(text);
                alerts.notifications().start(warn);
            }
            let done = play.await;
            if let Some(alerts) = &alerts {
                notify::finish_run(alerts.notifications(), control, &presenter).await;
            }
            watch.abort();
            if let Some(forward) = forward {
                forward.abort();
            }
            done
        })
    }

    /// Runs `work` to completion, without handling signals.
    pub(super) fn block_on<T>(&mut self, work: impl Future<Output = T>) -> Result<T, CliError> {
        let _quiet = self.screen.has_transient().then(QuietKeyboard::start);
        let runtime = runtime()?;
        let done = runtime.block_on(work);
        self.screen.clear();
        if let Some(warning) = mem::take(&mut self.telemetry).finish() {
            self.presenter.warn(&warning);
        }
        Ok(done)
    }

    /// Prints the denied calls of `run` that the operator can allow, unless only errors are
    /// printed.
    pub(super) fn print_denials(&self, journal: &Path, run: &RunId, env: &CliEnv) {
        // The run has already reported a journal that cannot be read.
        let timeline = Journal::read(journal)
            .ok()
            .and_then(|journal| RunTimeline::from_journal(&journal, run));
        let summary = timeline.and_then(|timeline| {
            let denied: Vec<_> = timeline.denied.iter().map(DeniedCall::from).collect();
            denial_summary(&denied, LISTED_REMEDIES)
        });
        if let Some(summary) = summary.filter(|_| !self.is_quiet) {
            env.print_note(&summary);
        }
    }

    /// Prints the result as text, unless events are printed. Then the last event contains the
    /// result.
    pub(super) fn print_result(&self, text: &str, env: &CliEnv) -> Result<(), CliError> {
        match &self.events {
            Some(events) => events.check_complete(),
            None => env.print(text),
        }
    }
}

fn events(output: &OutputArgs, presenter: &Arc<Presenter>) -> Option<Arc<JsonLines>> {
    match output.output {
        OutputFormat::Json => Some(Arc::new(JsonLines::new(presenter.clone()))),
        OutputFormat::Text => None,
    }
}

fn detail(output: &OutputArgs) -> Detail {
    match (output.quiet, output.debug) {
        (true, _) => Detail::Quiet,
        (false, true) => Detail::Debug,
        (false, false) => Detail::Normal,
    }
}
