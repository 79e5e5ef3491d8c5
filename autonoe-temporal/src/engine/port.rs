//! The engine.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::{
    Engine, EngineError, Placement, RunId, RunInstruction, RunOutcome, RunPhase, RunProgress,
    RunReport, RunSpec, RunView,
};
use serde::Deserialize;
use temporalio_client::errors::{WorkflowInteractionError, WorkflowStartError};
use temporalio_client::{
    Client, RetryOptions, RpcOptions, WorkflowCancelOptions, WorkflowDescribeOptions,
    WorkflowExecutionDescription, WorkflowHandle, WorkflowIdReusePolicy, WorkflowQueryOptions,
    WorkflowSignalOptions, WorkflowStartOptions,
};
use temporalio_workflow::MemoValues;

use super::describing::Known;
use super::failing::{failed, unreached, without_outcome};
use crate::TemporalSettings;
use crate::beginning::Beginning;
use crate::connecting::{ConnectError, connect};
use crate::fleet::FleetWorkflow;
use crate::job::JobWorkflow;
use crate::payload::{MOST_UNHEARD, too_large};
use crate::sessions::{SessionsWorkflow, progress};
use crate::wire::{HOST_MEMO, Look, SPEC_MEMO, aside_queue, host_of, host_queue, reads};

/// How long a worker has to say how a run stands. Without it, what the server knows is told.
const LOOK: Duration = Duration::from_secs(5);

/// Drives runs on a Temporal cluster.
///
/// The id of a run is that of its workflow, so it is one run for whoever submits it, from
/// wherever, for as long as the server remembers workflows that have ended (the retention of the
/// namespace). What is submitted waits on the server until a
/// [`TemporalWorker`](crate::TemporalWorker) takes it; dropping the engine changes nothing. A run
/// for a certain host waits for that host.
///
/// ```no_run
/// use autonoe_core::{Engine, Placement, RunId, RunSpec};
/// use autonoe_temporal::{TemporalEngine, TemporalSettings};
/// use serde_json::json;
///
/// # async fn submit() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = TemporalEngine::connect(TemporalSettings::at("http://127.0.0.1:7233")).await?;
/// let run = RunSpec::new(RunId::new("greeting"), "echo", json!("hello"));
///
/// engine.submit(run.clone(), Placement::anywhere()).await?;
/// let outcome = engine.wait(&run.id).await?;
///
/// assert!(outcome.is_success());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TemporalEngine {
    client: Client,
    settings: TemporalSettings,
}

impl TemporalEngine {
    /// Finds the server.
    ///
    /// # Errors
    ///
    /// There is none.
    pub async fn connect(settings: TemporalSettings) -> Result<Self, ConnectError> {
        let identity = format!("autonoe-{}", std::process::id());
        let client = connect(&settings, &identity).await?;
        Ok(Self { client, settings })
    }

    fn workflow(&self, run: &RunId) -> WorkflowHandle<Client, JobWorkflow> {
        self.client.get_workflow_handle(run.as_str())
    }

    /// Starts the workflow of a run.
    async fn start(
        &self,
        run: RunSpec,
        host_queue: Option<String>,
    ) -> Result<Result<(), WorkflowStartError>, EngineError> {
        let mut memo = MemoValues::new();
        memo.insert(SPEC_MEMO, run.clone());
        let options = WorkflowStartOptions::new(&self.settings.queue, run.id.as_str())
            .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
            .memo(memo)
            .build();
        let client = &self.client;
        let started = match Beginning::of(run, host_queue, self.settings.pace)? {
            Beginning::Job(begin) => {
                let started = client.start_workflow(JobWorkflow::run, begin, options);
                started.await.map(drop)
            }
            Beginning::Sessions(begin) => {
                let started = client.start_workflow(SessionsWorkflow::run, *begin, options);
                started.await.map(drop)
            }
            Beginning::Fleet(begin) => {
                let started = client.start_workflow(FleetWorkflow::run, begin, options);
                started.await.map(drop)
            }
        };
        Ok(started)
    }

    // All workflows are told, asked and waited for by the same names.
    async fn describe(&self, run: &RunId) -> Result<WorkflowExecutionDescription, EngineError> {
        let options = WorkflowDescribeOptions::default();
        let described = self.workflow(run).describe(options).await;
        described.map_err(|error| unreached(run, "describe the run", error))
    }

    async fn known(&self, run: &RunId) -> Result<Known, EngineError> {
        Ok(Known::of(&self.describe(run).await?))
    }

    /// Says what it means that the server does not let a run be reached: it has ended, or there is
    /// none.
    async fn gone(&self, run: &RunId) -> Result<EngineError, EngineError> {
        let known = self.known(run).await?;
        Ok(match known.has_ended {
            true => EngineError::Ended(run.clone()),
            false => failed(
                "reach the run",
                format!("the run {run} is there and is not"),
            ),
        })
    }

    /// Asks a worker how a run stands.
    async fn look(&self, run: &RunId) -> Option<Look> {
        let rpc = RpcOptions::builder()
            .timeout(LOOK)
            .retry_options(RetryOptions::no_retries())
            .build();
        let options = WorkflowQueryOptions::builder().rpc_options(rpc).build();
        let looked = self
            .workflow(run)
            .query(JobWorkflow::look, (), options)
            .await;
        looked
            .inspect_err(|error| tracing::debug!(%run, %error, "no worker says how the run stands"))
            .ok()
    }

    /// Returns the host that has claimed a run last.
    fn host(&self, run: &WorkflowExecutionDescription) -> Option<String> {
        let queue: String = run.memo().get(HOST_MEMO).ok().flatten()?;
        host_of(&queue, &self.settings.queue).map(str::to_owned)
    }

    /// Says why a run is to be told no more for now. One that no worker looks after is told.
    async fn hears_no_more(&self, run: &RunId, instruction: &RunInstruction) -> Option<String> {
        let RunInstruction::Say(text) = instruction else {
            return None;
        };
        let unheard = self.look(run).await.unwrap_or_default().unheard;
        (unheard + text.len() > MOST_UNHEARD).then(|| {
            format!(
                "it has {unheard} bytes to tell its agent in the next session, and at most \
                 {MOST_UNHEARD} are told there: name large things, do not send them"
            )
        })
    }

    /// Says what it means that there is a run of that id: that it is the same one, or another.
    async fn compare(&self, run: &RunSpec) -> Result<(), EngineError> {
        let known = self.describe(&run.id).await?;
        let known = known.memo().get::<RunSpec>(SPEC_MEMO);
        let known = known.map_err(|error| failed("tell what the run is to do", error))?;
        match known {
            Some(known) if known == *run => Ok(()),
            _ => Err(EngineError::Conflict(run.id.clone())),
        }
    }
}

#[async_trait]
impl Engine for TemporalEngine {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let id = run.id.clone();
        if let Some(reason) = too_large("what it is to do", &run) {
            return Err(EngineError::Refused { run: id, reason });
        }
        let host = place.host.as_deref();
        let queue = &self.settings.queue;
        let host_queue = host.map(|host| match reads(&run.job) {
            true => aside_queue(queue, host),
            false => host_queue(queue, host),
        });
        match self.start(run.clone(), host_queue).await? {
            Ok(()) => Ok(id),
            Err(WorkflowStartError::AlreadyStarted { .. }) => {
                self.compare(&run).await?;
                Ok(id)
            }
            Err(error) => Err(failed("take the run", error)),
        }
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        let options = WorkflowCancelOptions::builder().reason(reason).build();
        match self.workflow(run).cancel(options).await {
            Ok(()) => Ok(()),
            Err(WorkflowInteractionError::NotFound(_)) => match self.gone(run).await? {
                EngineError::Ended(_) => Ok(()),
                error => Err(error),
            },
            Err(error) => Err(failed("cancel the run", error)),
        }
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        if let Some(reason) = too_large("what it is told", &instruction) {
            let run = run.clone();
            return Err(EngineError::Refused { run, reason });
        }
        if let Some(reason) = self.hears_no_more(run, &instruction).await {
            let run = run.clone();
            return Err(EngineError::Refused { run, reason });
        }
        let options = WorkflowSignalOptions::default();
        let workflow = self.workflow(run);
        let told = workflow.signal(JobWorkflow::instruct, instruction, options);
        match told.await {
            Ok(()) => Ok(()),
            Err(WorkflowInteractionError::NotFound(_)) => Err(self.gone(run).await?),
            Err(error) => Err(failed("tell the run something", error)),
        }
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        let mut view = RunView::new(run.clone());
        let description = self.describe(run).await?;
        let known = Known::of(&description);
        view.host = self.host(&description);
        // A run of somebody else says nothing of itself that is understood here.
        view.spec = description.memo().get(SPEC_MEMO).ok().flatten();
        if !known.has_ended {
            let look = self.look(run).await;
            view.phase = known.phase(look.as_ref().is_some_and(|look| look.is_paused));
            view.trouble.clone_from(&known.trouble);
            view.wait = look.as_ref().and_then(|look| look.wait);
            view.at = known.at_with(look);
            return Ok(view);
        }
        let outcome = self.wait(run).await?;
        view.phase = RunPhase::Ended;
        let mut at = RunProgress::default();
        at.spent = outcome.spent;
        if let Ok(report) = RunReport::deserialize(&outcome.output) {
            at = progress(&report);
        }
        view.at = Some(at);
        view.outcome = Some(outcome);
        Ok(view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        let ended = self.workflow(run).get_result(Default::default()).await;
        ended.or_else(|error| without_outcome(run, error))
    }
}

impl fmt::Debug for TemporalEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemporalEngine")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
