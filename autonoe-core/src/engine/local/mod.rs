//! [`LocalEngine`], which executes runs in this process.

mod run;

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use run::LocalRun;
use tokio::runtime::Handle;

use crate::engine::{
    Engine, EngineError, JobRunner, Placement, RunInstruction, RunOutcome, RunSpec, RunView,
};
use crate::event::InvalidValue;
use crate::time::RunId;

/// Executes runs in this process, each in its own task.
///
/// It keeps its state in memory: its runs and their outcomes are lost with it. Dropping the engine
/// cancels all its runs; they end by themselves, and their outcomes are lost. The number of
/// concurrent runs is not limited; the caller limits it.
///
/// ```
/// use autonoe_core::engine::{Engine, LocalEngine, Placement, RunSpec};
/// use autonoe_core::RunId;
/// # use autonoe_core::engine::{JobRunner, JobContext, RunOutcome};
/// # struct Echo;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Echo {
/// #     async fn run(&self, run: &RunSpec, _: &JobContext) -> RunOutcome {
/// #         RunOutcome::succeeded(run.input.clone())
/// #     }
/// # }
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let engine = LocalEngine::new(Echo);
/// let run = RunSpec::new(RunId::new("greeting"), "echo", json!("hello"));
///
/// let id = engine.submit(run.clone(), Placement::anywhere()).await?;
/// // The same run again: nothing is started.
/// engine.submit(run, Placement::anywhere()).await?;
///
/// assert_eq!(engine.wait(&id).await?.output, json!("hello"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct LocalEngine {
    runners: Runners,
    host: Option<String>,
    runs: Mutex<HashMap<RunId, Arc<LocalRun>>>,
}

impl LocalEngine {
    /// Creates an engine that executes runs of every kind with `runner`.
    pub fn new(runner: impl JobRunner + 'static) -> Self {
        Self::with_runners(Runners::One(Arc::new(runner)))
    }

    /// Creates an engine with one runner for each kind of job. Other kinds are refused.
    ///
    /// Runners of different types can be passed as `Arc<dyn JobRunner>`.
    pub fn by_kind<K: Into<String>, R: JobRunner + 'static>(
        runners: impl IntoIterator<Item = (K, R)>,
    ) -> Self {
        let shared = |runner| Arc::new(runner) as Arc<dyn JobRunner>;
        let runners = runners.into_iter();
        let by_kind = runners.map(|(kind, runner)| (kind.into(), shared(runner)));
        Self::with_runners(Runners::ByKind(by_kind.collect()))
    }

    /// Sets the name of this host. Runs for other hosts are refused. Without a name, all runs for a
    /// specific host are refused.
    #[must_use]
    pub fn on_host(mut self, name: impl Into<String>) -> Self {
        self.host = Some(name.into());
        self
    }

    fn with_runners(runners: Runners) -> Self {
        Self {
            runners,
            host: None,
            runs: Mutex::default(),
        }
    }

    fn run(&self, id: &RunId) -> Result<Arc<LocalRun>, EngineError> {
        let run = self.runs().get(id).cloned();
        run.ok_or_else(|| EngineError::Unknown(id.clone()))
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<LocalRun>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Engine for LocalEngine {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let id = run.id.clone();
        let refused = |reason| EngineError::Refused {
            run: id.clone(),
            reason,
        };
        if let Some(name) = &self.host {
            InvalidValue::check_name("on_host(..)", name)
                .map_err(|invalid| refused(invalid.to_string()))?;
        }
        if let Some(host) = place.host
            && self.host.as_ref() != Some(&host)
        {
            return Err(refused(format!("this is not the host {host:?}")));
        }
        let mut runs = self.runs();
        match runs.entry(id.clone()) {
            Entry::Occupied(known) if known.get().spec.is_same_work(&run) => Ok(id),
            Entry::Occupied(_) => Err(EngineError::Conflict(id)),
            Entry::Vacant(place) => {
                let runner = self.runners.get(&run.job).map_err(refused)?;
                let tasks = Handle::try_current().map_err(|error| EngineError::Failed {
                    reason: "a run needs a Tokio runtime; submit it from a task of one".to_owned(),
                    source: Some(error.into()),
                })?;
                let run = Arc::new(LocalRun::new(run));
                tasks.spawn(run.clone().run_to_end(runner));
                place.insert(run);
                Ok(id)
            }
        }
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        self.run(run)?.cancel(reason);
        Ok(())
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        self.run(run)?.instruct(instruction)
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        Ok(self.run(run)?.view())
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        let outcome = self.run(run)?.wait().await;
        outcome.ok_or_else(|| EngineError::Failed {
            reason: format!("the run {run} did not report how it ended"),
            source: None,
        })
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        for run in self.runs().values() {
            run.cancel("the engine that executed the run was dropped");
        }
    }
}

impl fmt::Debug for LocalEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalEngine")
            .field("host", &self.host)
            .field("runs", &self.runs().len())
            .finish_non_exhaustive()
    }
}

/// The job runners of an engine.
enum Runners {
    /// One runner for all kinds.
    One(Arc<dyn JobRunner>),
    /// One runner for each kind.
    ByKind(BTreeMap<String, Arc<dyn JobRunner>>),
}

impl Runners {
    /// Returns the runner for a kind of job. The error lists the known kinds.
    fn get(&self, job: &str) -> Result<Arc<dyn JobRunner>, String> {
        match self {
            Self::One(runner) => Ok(runner.clone()),
            Self::ByKind(runners) => runners.get(job).cloned().ok_or_else(|| {
                let kinds: Vec<_> = runners.keys().map(String::as_str).collect();
                let known = kinds.join(", ");
                format!(
                    "this engine has no runner for jobs of the kind {job:?}; known kinds are \
                     {known}"
                )
            }),
        }
    }
}
