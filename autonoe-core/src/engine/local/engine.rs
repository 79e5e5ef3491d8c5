//! The engine in this process.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tokio::runtime::Handle;

use super::run::LocalRun;
use super::runners::Runners;
use crate::domain::{InvalidValue, RunId};
use crate::engine::{
    Engine, EngineError, JobRunner, Placement, RunInstruction, RunOutcome, RunSpec, RunView,
};

/// Drives runs in this process, each in a task of its own.
///
/// It keeps what it knows in memory: its runs and their outcomes are gone with it. Who drops it
/// cancels all its runs; they end by themselves then, and nobody is told how. There is no limit of
/// how many it carries out at once: who submits them has one.
///
/// ```
/// use autonoe_core::{Engine, LocalEngine, Placement, RunId, RunSpec};
/// # use autonoe_core::{JobRunner, RunDesk, RunOutcome};
/// # struct Echo;
/// # #[async_trait::async_trait]
/// # impl JobRunner for Echo {
/// #     async fn run(&self, run: &RunSpec, _: &RunDesk) -> RunOutcome {
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
/// // It is the same run: nothing is started.
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
    /// Makes an engine whose runs, of whatever kind, are carried out by `runner`.
    pub fn new(runner: impl JobRunner + 'static) -> Self {
        Self::over(Runners::One(Arc::new(runner)))
    }

    /// Makes an engine with one runner for each kind of job; others are refused.
    ///
    /// Runners of different types are given as `Arc<dyn JobRunner>`.
    pub fn by_kind<K: Into<String>, R: JobRunner + 'static>(
        runners: impl IntoIterator<Item = (K, R)>,
    ) -> Self {
        let shared = |runner| Arc::new(runner) as Arc<dyn JobRunner>;
        let runners = runners.into_iter();
        let by_kind = runners.map(|(kind, runner)| (kind.into(), shared(runner)));
        Self::over(Runners::ByKind(by_kind.collect()))
    }

    /// Names the host that this is. Runs for other hosts are refused; without a name, all that are
    /// for a certain host.
    #[must_use]
    pub fn on_host(mut self, name: impl Into<String>) -> Self {
        self.host = Some(name.into());
        self
    }

    fn over(runners: Runners) -> Self {
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
            Entry::Occupied(known) if known.get().spec == run => Ok(id),
            Entry::Occupied(_) => Err(EngineError::Conflict(id)),
            Entry::Vacant(place) => {
                let runner = self.runners.of(&run.job).map_err(refused)?;
                let tasks = Handle::try_current().map_err(|error| EngineError::Failed {
                    reason: "a run needs the runtime of tokio to be carried out in".to_owned(),
                    source: Some(error.into()),
                })?;
                let run = Arc::new(LocalRun::new(run));
                tasks.spawn(run.clone().carry_out(runner));
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
            reason: format!("the end of the run {run} was not told"),
            source: None,
        })
    }
}

impl Drop for LocalEngine {
    fn drop(&mut self) {
        for run in self.runs().values() {
            run.cancel("the engine that drove it is gone");
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
