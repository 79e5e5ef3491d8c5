//! What runs and flows are shown, watched and stopped with.

use std::mem;
use std::path::Path;
use std::sync::Arc;

use autonoe_core::{
    Destructive, Journal, OuterSandbox, Project, RunControl, RunId, RunObserver, RunTimeline,
    SessionRunnerBuilder, TraceContext,
};

use super::signals;
use crate::args::{AgentArgs, OutputArgs, OutputFormat};
use crate::compose::{Equipment, ModelsFile, destructive_warning, misread_sandbox, sandbox_switch};
use crate::error::CliError;
use crate::present::{
    AnswerOutput, AnswerStream, DeniedCall, Detail, FlowLines, JsonLines, Presenter, QuietKeyboard,
    Screen, denial_summary, start_logging,
};
use crate::surroundings::Surroundings;
use crate::telemetry::{Telemetry, incoming_trace};

/// Changes of the settings that are listed after a run.
const LISTED_REMEDIES: usize = 5;

/// What a run or a flow is shown, watched and stopped with.
pub(super) struct Stage {
    screen: Screen,
    presenter: Arc<Presenter>,
    /// Observes in place of the presenter, if the answer of an agent is printed.
    answers: Option<Arc<AnswerStream>>,
    events: Option<Arc<JsonLines>>,
    telemetry: Telemetry,
    trace: Option<TraceContext>,
    is_quiet: bool,
}

impl Stage {
    /// Opens the screen and the telemetry, and warns of what is odd about the sandbox.
    pub(super) fn open(
        agent: &AgentArgs,
        output: &OutputArgs,
        project: &Project,
        models: &ModelsFile,
        surroundings: &Surroundings,
    ) -> Self {
        let detail = detail(output);
        let screen = Screen::new(surroundings, detail == Detail::Normal);
        let presenter = Arc::new(Presenter::new(screen.clone(), detail));
        let trace = incoming_trace(surroundings);
        let section = &models.telemetry;
        let telemetry =
            Telemetry::start(section, project.root(), surroundings, trace.as_ref(), None);
        let telemetry = telemetry.unwrap_or_else(|error| {
            presenter.warn(&format!("nothing is exported as telemetry: {error}"));
            Telemetry::default()
        });
        start_logging(&screen, detail, telemetry.spans());
        if let Some(warning) = sandbox_switch(agent.no_sandbox, surroundings).warning() {
            presenter.warn(warning);
        }
        if let Some(warning) = misread_sandbox(agent.no_sandbox, surroundings) {
            presenter.warn(&warning);
        }
        Self {
            screen,
            events: events(output, &presenter),
            presenter,
            answers: None,
            telemetry,
            trace,
            is_quiet: detail == Detail::Quiet,
        }
    }

    /// Opens the screen for a run that is carried out elsewhere.
    pub(super) fn elsewhere(output: &OutputArgs, surroundings: &Surroundings) -> Self {
        let detail = detail(output);
        let screen = Screen::new(surroundings, detail == Detail::Normal);
        let presenter = Arc::new(Presenter::new(screen.clone(), detail));
        start_logging(&screen, detail, None);
        Self {
            screen,
            events: None,
            presenter,
            answers: None,
            telemetry: Telemetry::default(),
            trace: None,
            is_quiet: detail == Detail::Quiet,
        }
    }

    /// Returns those who show what happens.
    pub(super) fn observers(&self) -> Vec<Arc<dyn RunObserver>> {
        let mut observers: Vec<Arc<dyn RunObserver>> = match &self.answers {
            Some(answers) => vec![answers.clone()],
            None => vec![self.presenter.clone()],
        };
        let events = self.events.clone();
        observers.extend(events.map(|events| events as Arc<dyn RunObserver>));
        observers
    }

    /// Prints the answers of agents from now on, instead of the lines of a run.
    pub(super) fn stream_answers(&mut self) -> Arc<AnswerStream> {
        let output = match self.events {
            Some(_) => AnswerOutput::None,
            None => AnswerOutput::Words,
        };
        let answers = AnswerStream::new(self.screen.clone(), self.presenter.clone(), output);
        let answers = Arc::new(answers);
        self.answers = Some(answers.clone());
        answers
    }

    /// Returns an error if standard output did not get everything.
    pub(super) fn check_written(&self) -> Result<(), CliError> {
        if let Some(answers) = &self.answers {
            answers.check_written()?;
        }
        self.events.as_ref().map_or(Ok(()), |events| events.end())
    }

    /// Returns what shows it to a person.
    pub(super) fn presenter(&self) -> Arc<Presenter> {
        self.presenter.clone()
    }

    /// Prints a line that the run itself does not emit.
    pub(super) fn say(&self, message: &str) {
        self.presenter.say(message);
    }

    /// Warns of something that the run itself does not know of.
    pub(super) fn warn(&self, message: &str) {
        self.presenter.warn(message);
    }

    /// Prints warnings about destructive commands and the backend, and the data that telemetry
    /// sends.
    pub(super) fn warn_of(&self, destructive: Destructive, backend: &[String]) {
        if let Some(warning) = destructive_warning(destructive) {
            self.warn(warning);
        }
        for warning in backend.iter().chain(self.telemetry.announced()) {
            self.warn(warning);
        }
    }

    /// Returns what shows a flow to a person.
    pub(super) fn flow_lines(&self) -> Arc<FlowLines> {
        Arc::new(FlowLines::new(self.presenter.clone()))
    }

    /// Says all that the command line and this stage say about the sessions.
    pub(super) fn configuration(
        &self,
        agent: &AgentArgs,
        outer_sandbox: Option<OuterSandbox>,
        missing_server: Option<String>,
        surroundings: &Surroundings,
    ) -> impl Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync + 'static {
        let observers = self.observers();
        let models = agent.models();
        let (trace, telemetry) = (self.trace.clone(), self.telemetry.sessions());
        let equipment = Equipment::new(outer_sandbox, agent.thinking, surroundings)
            .without_server(missing_server);
        move |runner| {
            let runner = equipment.put_into(runner).models(models.clone());
            let runner = telemetry.apply(runner, trace.clone());
            observers
                .iter()
                .cloned()
                .fold(runner, SessionRunnerBuilder::observer)
        }
    }

    /// Plays it to its end. What asks to stop cancels `control`.
    pub(super) fn play<T>(
        &mut self,
        control: &RunControl,
        play: impl Future<Output = T>,
    ) -> Result<T, CliError> {
        let presenter = self.presenter.clone();
        self.see_through(async {
            let watch = tokio::spawn(signals::watch(control.clone(), presenter));
            let done = play.await;
            watch.abort();
            done
        })
    }

    /// Sees something through to its end. Signals are its own business.
    pub(super) fn see_through<T>(&mut self, work: impl Future<Output = T>) -> Result<T, CliError> {
        let _quiet = self.screen.has_transient().then(QuietKeyboard::begin);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| CliError::failure(format!("the program cannot start: {error}")))?;
        let done = runtime.block_on(work);
        self.screen.clear();
        if let Some(warning) = mem::take(&mut self.telemetry).finish() {
            self.presenter.warn(&warning);
        }
        Ok(done)
    }

    /// Prints the denied calls of `run` that the operator can allow, unless only errors are
    /// printed.
    pub(super) fn print_denials(&self, journal: &Path, run: &RunId, surroundings: &Surroundings) {
        // The run has already reported a journal that cannot be read.
        let timeline = Journal::read(journal)
            .ok()
            .and_then(|journal| RunTimeline::of(&journal, run));
        let summary = timeline.and_then(|timeline| {
            let denied: Vec<_> = timeline.denied.iter().map(DeniedCall::from).collect();
            denial_summary(&denied, LISTED_REMEDIES)
        });
        if let Some(summary) = summary.filter(|_| !self.is_quiet) {
            surroundings.note(&summary);
        }
    }

    /// Tells what it came to: in words, unless the last event has told it.
    pub(super) fn tell(&self, words: &str, surroundings: &Surroundings) -> Result<(), CliError> {
        match &self.events {
            Some(events) => events.end(),
            None => surroundings.say(words),
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
