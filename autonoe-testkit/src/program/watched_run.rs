//! A complete run with all events that its observers receive.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, fs};

use autonoe_core::project::OpenProjectOptions;
use autonoe_core::run::SessionRunnerBuilder;
use autonoe_core::{AgentClientFactory, Project, ProjectRun, RunControl, RunReport};
use serde_json::{Value, json};

use super::within;
use crate::EventLog;

/// A complete run with all events that its observers receive.
pub struct WatchedRun {
    options: OpenProjectOptions,
    agents: Arc<dyn AgentClientFactory>,
    configure: Vec<Configure>,
    log: Arc<EventLog>,
}

type Configure = Box<dyn FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send>;

impl WatchedRun {
    /// Creates a run of a greeting in a fresh project at `folder`.
    ///
    /// # Panics
    ///
    /// If the project cannot be created.
    pub fn in_project(folder: &Path, agents: impl AgentClientFactory + 'static) -> Self {
        fs::write(folder.join("SPEC.md"), "# A greeting\n").expect("writable");
        // No browser, because it would be downloaded.
        fs::create_dir(folder.join(".autonoe")).expect("it can be made");
        let config = json!({"mcpServers": {}}).to_string();
        fs::write(folder.join(".autonoe/agent.json"), config).expect("writable");
        let project = Project::find(folder, None).expect("a project");
        let log = Arc::new(EventLog::new());
        let run = Self {
            options: project.into(),
            agents: Arc::new(agents),
            configure: Vec::new(),
            log: log.clone(),
        };
        run.configure(|runner| runner.pause_between_sessions(Duration::ZERO).observer(log))
    }

    /// Creates a run of a greeting in a planned project at `folder`: its ledger has the pending
    /// deliverable `DL-001`, and its first session is a coding session.
    ///
    /// # Panics
    ///
    /// If the project cannot be created.
    pub fn in_planned_project(folder: &Path, agents: impl AgentClientFactory + 'static) -> Self {
        let run = Self::in_project(folder, agents);
        let ledger = json!({"deliverables": [{
            "id": "DL-001",
            "description": "A greeting",
            "acceptanceCriteria": ["hello.txt says hello"],
        }]});
        let file = folder.join(".autonoe/status.json");
        fs::write(file, ledger.to_string()).expect("writable");
        run
    }

    /// Returns the log of observed events.
    pub fn log(&self) -> Arc<EventLog> {
        self.log.clone()
    }

    /// Changes how the project is opened.
    #[must_use]
    pub fn with_options(
        mut self,
        change: impl FnOnce(OpenProjectOptions) -> OpenProjectOptions,
    ) -> Self {
        self.options = change(self.options);
        self
    }

    /// Configures the session runner.
    #[must_use]
    pub fn configure(
        mut self,
        configure: impl FnOnce(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + 'static,
    ) -> Self {
        self.configure.push(Box::new(configure));
        self
    }

    /// Runs to the end, and returns the report and the end of each session.
    ///
    /// # Panics
    ///
    /// If the run does not start, or takes too long.
    pub async fn run(self) -> (RunReport, Vec<Value>) {
        self.run_with_control(&RunControl::new()).await
    }

    /// Runs to the end under `control`, and returns the report and the end of each session.
    ///
    /// # Panics
    ///
    /// If the run does not start, or takes too long.
    pub async fn run_with_control(self, control: &RunControl) -> (RunReport, Vec<Value>) {
        let run = ProjectRun::new(self.options, self.agents);
        let run = self.configure.into_iter().fold(run, ProjectRun::configure);
        let report = within(run.run(control)).await.expect("it starts");
        let ended = self.log.json().into_iter();
        let ended = ended.filter(|event| event["event"] == "session_ended");
        (report, ended.collect())
    }
}

impl fmt::Debug for WatchedRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedRun")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// Returns the status of the only deliverable in the project's ledger on disk.
///
/// # Panics
///
/// If there is no ledger.
pub fn status_on_disk(project: &Path) -> Value {
    let text = fs::read_to_string(project.join(".autonoe/status.json")).expect("a ledger");
    let ledger: Value = serde_json::from_str(&text).expect("JSON");
    ledger["deliverables"][0].clone()
}
