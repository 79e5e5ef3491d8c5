//! Implementation of [`Engine`] on a Temporal cluster, and the [`RunSummary`] of its lists.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::engine::{
    Engine, EngineError, Placement, RunInstruction, RunOutcome, RunPhase, RunProgress, RunSpec,
    RunView,
};
use autonoe_core::project::{JournalPage, JournalPageRequest};
use autonoe_core::{RunId, RunReport};
use autonoe_harness::coordinate::STRATEGY_JOB;
use futures::TryStreamExt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use temporalio_client::errors::{WorkflowInteractionError, WorkflowStartError};
use temporalio_client::{
    Client, RetryOptions, RpcOptions, WorkflowCancelOptions, WorkflowDescribeOptions,
    WorkflowExecution, WorkflowExecutionDescription, WorkflowHandle, WorkflowIdReusePolicy,
    WorkflowListOptions, WorkflowQueryOptions, WorkflowSignalOptions, WorkflowStartOptions,
};
use temporalio_common::WorkflowDefinition;
use temporalio_workflow::MemoValues;

use super::error::{failed, without_outcome};
use super::server_view::{ServerView, has_ended};
use crate::TemporalSettings;
use crate::connection::{ConnectError, connect};
use crate::fleet::FleetWorkflow;
use crate::job::JobWorkflow;
use crate::journal::{JournalError, read_page};
use crate::payload::{MAX_UNDELIVERED, too_large};
use crate::run_workflow::RunWorkflow;
use crate::sessions::{SessionsWorkflow, progress};
use crate::wire::{HOST_MEMO, SPEC_MEMO, WorkflowState, host_of, host_queue, side_queue};

/// Timeout of a query to a worker about a run. After it, only the facts of the server are returned.
const QUERY_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs jobs on a Temporal cluster.
///
/// The ID of a run is the ID of its workflow. A run is therefore the same for every client, for as
/// long as the server keeps ended workflows (the retention of the namespace). A submitted run waits
/// on the server until a [`TemporalWorker`](crate::TemporalWorker) polls it; dropping the engine
/// changes nothing. A run that is bound to a host waits for that host.
///
/// ```no_run
/// use autonoe_core::engine::{Engine, Placement, RunSpec};
/// use autonoe_core::RunId;
/// use autonoe_temporal::{TemporalEngine, TemporalSettings};
/// use serde_json::json;
///
/// # async fn submit() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = TemporalEngine::connect(TemporalSettings::new("http://127.0.0.1:7233")).await?;
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
    /// Connects to the server.
    ///
    /// # Errors
    ///
    /// The server cannot be reached or used.
    pub async fn connect(settings: TemporalSettings) -> Result<Self, ConnectError> {
        let identity = format!("autonoe-{}", std::process::id());
        let client = connect(&settings, &identity).await?;
        Ok(Self { client, settings })
    }

    fn workflow(&self, run: &RunId) -> WorkflowHandle<Client, JobWorkflow> {
        self.client.get_workflow_handle(run.as_str())
    }

    // All workflows share the names of signals, queries and results.
    async fn describe(&self, run: &RunId) -> Result<WorkflowExecutionDescription, EngineError> {
        let options = WorkflowDescribeOptions::default();
        let described = self.workflow(run).describe(options).await;
        described.map_err(|error| match error {
            WorkflowInteractionError::NotFound(_) => EngineError::Unknown(run.clone()),
            error => failed("describe the run", error),
        })
    }

    /// Returns the error of a request to a run. The server does not distinguish a run that has
    /// ended from one that does not exist.
    async fn request_error(
        &self,
        run: &RunId,
        doing: &str,
        error: WorkflowInteractionError,
    ) -> EngineError {
        if !matches!(error, WorkflowInteractionError::NotFound(_)) {
            return failed(doing, error);
        }
        match self.describe(run).await {
            Ok(found) if has_ended(found.status()) => EngineError::Ended(run.clone()),
            Ok(_) => failed(doing, error),
            Err(error) => error,
        }
    }

    /// Queries the workflow of a run through a worker.
    async fn query_state(&self, run: &RunId) -> Option<WorkflowState> {
        let rpc = RpcOptions::builder()
            .timeout(QUERY_TIMEOUT)
            .retry_options(RetryOptions::no_retries())
            .build();
        let options = WorkflowQueryOptions::builder().rpc_options(rpc).build();
        let answer = self
            .workflow(run)
            .query(JobWorkflow::state, (), options)
            .await;
        answer
            .inspect_err(
                |error| tracing::debug!(%run, %error, "no worker reports the state of the run"),
            )
            .ok()
    }

    /// Returns the host that claimed the run last.
    fn host(&self, run: &WorkflowExecutionDescription) -> Option<String> {
        let queue: String = run.memo().get(HOST_MEMO).ok().flatten()?;
        host_of(&queue, &self.settings.queue).map(str::to_owned)
    }

    /// Returns why a run cannot accept another message for now. A run without a worker accepts it.
    async fn reject_message(&self, run: &RunId, instruction: &RunInstruction) -> Option<String> {
        let RunInstruction::Message(text) = instruction else {
            return None;
        };
        let undelivered_bytes = self
            .query_state(run)
            .await
            .unwrap_or_default()
            .undelivered_bytes;
        (undelivered_bytes + text.len() > MAX_UNDELIVERED).then(|| {
            format!(
                "{undelivered_bytes} bytes of messages already wait for the next session of the agent, and \
                 at most {MAX_UNDELIVERED} are allowed: refer to large files by their path"
            )
        })
    }

    /// Compares a run with an existing one of the same ID, and returns an error if they differ.
    async fn compare(&self, run: &RunSpec) -> Result<(), EngineError> {
        let description = self.describe(&run.id).await?;
        let known = description
            .memo()
            .get::<RunSpec>(SPEC_MEMO)
            .map_err(|error| failed("read the description of the run", error))?;
        match known.map(without_traces) {
            Some(known) if known.is_same_work(&without_traces(run.clone())) => Ok(()),
            _ => Err(EngineError::Conflict(run.id.clone())),
        }
    }
}

/// Removes the traces from the members of a fleet. They are not part of the work: each process that
/// submits it has its own.
fn without_traces(mut run: RunSpec) -> RunSpec {
    let members = match run.job.as_str() {
        STRATEGY_JOB => run.input.get_mut("members").and_then(Value::as_array_mut),
        _ => None,
    };
    for member in members.into_iter().flatten() {
        if let Some(work) = member.get_mut("work").and_then(Value::as_object_mut) {
            work.remove("trace");
        }
    }
    run
}

#[async_trait]
impl Engine for TemporalEngine {
    async fn submit(&self, run: RunSpec, place: Placement) -> Result<RunId, EngineError> {
        let id = run.id.clone();
        if let Some(reason) = too_large("the run", &run) {
            return Err(EngineError::Refused { run: id, reason });
        }
        let host = place.host.as_deref();
        let queue = &self.settings.queue;
        let host_queue = host.map(|host| host_queue(queue, host));
        let (workflow, input) =
            RunWorkflow::from_spec(run.clone(), host_queue, self.settings.timeouts)?;
        let mut memo = MemoValues::new();
        memo.insert(SPEC_MEMO, run.clone());
        let options = WorkflowStartOptions::new(queue, id.as_str())
            .id_reuse_policy(WorkflowIdReusePolicy::RejectDuplicate)
            .memo(memo)
            .build();
        match self.client.start_workflow(workflow, input, options).await {
            Ok(_) => Ok(id),
            Err(WorkflowStartError::AlreadyStarted { .. }) => {
                self.compare(&run).await?;
                Ok(id)
            }
            Err(error) => Err(failed("start the run", error)),
        }
    }

    async fn cancel(&self, run: &RunId, reason: &str) -> Result<(), EngineError> {
        let options = WorkflowCancelOptions::builder().reason(reason).build();
        let Err(error) = self.workflow(run).cancel(options).await else {
            return Ok(());
        };
        match self.request_error(run, "cancel the run", error).await {
            EngineError::Ended(_) => Ok(()),
            error => Err(error),
        }
    }

    async fn instruct(&self, run: &RunId, instruction: RunInstruction) -> Result<(), EngineError> {
        let too_large = too_large("the instruction", &instruction);
        let refusal = match too_large {
            None => self.reject_message(run, &instruction).await,
            too_large => too_large,
        };
        if let Some(reason) = refusal {
            let run = run.clone();
            return Err(EngineError::Refused { run, reason });
        }
        let options = WorkflowSignalOptions::default();
        let workflow = self.workflow(run);
        let signal = workflow.signal(JobWorkflow::instruct, instruction, options);
        match signal.await {
            Ok(()) => Ok(()),
            Err(error) => {
                let doing = "send an instruction to the run";
                Err(self.request_error(run, doing, error).await)
            }
        }
    }

    async fn status(&self, run: &RunId) -> Result<RunView, EngineError> {
        let mut view = RunView::new(run.clone());
        let description = self.describe(run).await?;
        let known = ServerView::from_description(&description);
        view.host = self.host(&description);
        // The memo of another application cannot be parsed.
        view.spec = description.memo().get(SPEC_MEMO).ok().flatten();
        if !known.has_ended {
            let state = self.query_state(run).await;
            view.phase = known.phase(state.as_ref().is_some_and(|state| state.is_paused));
            view.last_error.clone_from(&known.last_error);
            view.wait = state.as_ref().and_then(|state| state.wait);
            view.progress = known.at_with(state);
            return Ok(view);
        }
        let outcome = self.wait(run).await?;
        view.phase = RunPhase::Ended;
        let mut at = RunProgress::default();
        at.spent = outcome.spent;
        if let Ok(report) = RunReport::deserialize(&outcome.output) {
            at = progress(&report);
        }
        view.progress = Some(at);
        view.outcome = Some(outcome);
        Ok(view)
    }

    async fn wait(&self, run: &RunId) -> Result<RunOutcome, EngineError> {
        let ended = self.workflow(run).get_result(Default::default()).await;
        ended.or_else(|error| without_outcome(run, error))
    }
}

/// An engine that lists its runs and reads their journals on other hosts.
#[async_trait]
pub trait Cluster: Engine {
    /// Reads the journal of a run on a host: the lines after the cursor of `ask`. It does not use a
    /// slot of the host.
    ///
    /// # Errors
    ///
    /// The host does not answer or cannot read the journal, or the server fails.
    async fn journal(
        &self,
        host: &str,
        ask: JournalPageRequest,
    ) -> Result<JournalPage, JournalError>;

    /// Lists runs of the queue, newest first, at most `limit`. A new run may appear with a short
    /// delay.
    ///
    /// # Errors
    ///
    /// The server fails.
    async fn list(&self, limit: usize) -> Result<Vec<RunSummary>, EngineError>;
}

#[async_trait]
impl Cluster for TemporalEngine {
    async fn journal(
        &self,
        host: &str,
        ask: JournalPageRequest,
    ) -> Result<JournalPage, JournalError> {
        let queue = side_queue(&self.settings.queue, host);
        read_page(&self.client, host, queue, ask).await
    }

    async fn list(&self, limit: usize) -> Result<Vec<RunSummary>, EngineError> {
        let queue = self.settings.queue.replace(['\'', '\\'], "");
        let query = format!(
            "TaskQueue = '{queue}' AND WorkflowType IN ('{}', '{}', '{}')",
            SessionsWorkflow::run.name(),
            FleetWorkflow::run.name(),
            JobWorkflow::run.name(),
        );
        let options = WorkflowListOptions::builder().limit(limit).build();
        self.client
            .list_workflows(query, options)
            .map_ok(|workflow| RunSummary::new(&workflow))
            .try_collect()
            .await
            .map_err(|error| failed("list the runs", error))
    }
}

impl fmt::Debug for TemporalEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TemporalEngine")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A run in a list, with facts that the server knows without a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RunSummary {
    /// The run.
    pub id: RunId,
    /// Whether it has ended. A paused run counts as running.
    pub phase: RunPhase,
    /// Time of the submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub submitted_at: Option<Timestamp>,
    /// Time of the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl RunSummary {
    pub(super) fn new(workflow: &WorkflowExecution) -> Self {
        let time = |time: Option<std::time::SystemTime>| Timestamp::try_from(time?).ok();
        let phase = if has_ended(workflow.status()) {
            RunPhase::Ended
        } else {
            RunPhase::Running
        };
        Self {
            id: RunId::new(workflow.id()),
            phase,
            submitted_at: time(workflow.start_time()),
            ended_at: time(workflow.close_time()),
        }
    }
}
