//! Executor that runs each task, and each question of a judge, as an agent session on any backend.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_core::agent::{BudgetKind, SessionEnd, SessionReport};
use autonoe_core::event::{Failure, InvalidValue};
use autonoe_core::run::{BuildError, FlowExit, Models, SessionRunnerBuilder};
use autonoe_core::session::{
    FlowStart, Judge, JudgeQuestion, Judged, OpenSessions, PerformedSession, SessionJudge,
};
use autonoe_core::time::{AgentSessionId, Clock, SystemClock};
use autonoe_core::tool::ToolStatus;
use autonoe_core::{AgentClientFactory, Capabilities, RunControl, SessionOrder, SessionRunner};
use autonoe_process::ProcessRunner;
use jiff::Timestamp;
use serde_json::json;

use super::folder::resolve_folder;
use super::{
    ExecuteError, Execution, ExecutionOutcome, ExecutionReport, Executor, Task, Verification,
    VerificationContext, follow_up_prompt, task_prompt,
};
use crate::budget::VerificationBudget;

/// Builds the judge of a folder.
type JudgeFactory = Arc<dyn Fn(&Path) -> Arc<dyn Judge> + Send + Sync>;

type Configure = Arc<dyn Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync>;

/// Runs tasks on any backend, each in a session of its own.
///
/// The sessions are like those of a run: [`sessions`](Self::sessions) configures them, and guards
/// and gate are always active. Limits and budgets that are set there apply to each task; the time
/// limit is that of the task. A conversation that cannot be continued is replaced by a new one
/// within the same execution.
///
/// A task runs in the folder of the executor or in one below it. Commands of criteria are only run
/// if [`commands`](Self::commands) is set, and statements are only judged if a judge is set.
///
/// ```
/// use autonoe_harness::budget::VerificationBudget;
/// use autonoe_harness::{AgentExecutor, Execution, Executor, Task};
/// # use autonoe_testkit::{ScriptedBackend, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// # let agents = ScriptedBackend::new([SessionScript::new("work").says("Done.").ends()]);
/// # let folder = std::env::temp_dir();
/// let executor = AgentExecutor::new("codex", agents, folder).model("gpt-5.5");
/// # let executor = executor.clock(VirtualClock::new());
/// let task = Task::new("T-001", "Add a login page.")?;
///
/// let result = executor.run(&task, &Execution::default()).await?;
///
/// assert!(result.is_success());
/// let budget = VerificationBudget::default();
/// assert!(executor.verify_success(&task, &result, &budget).await.is_success());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).expect("it works");
/// ```
#[derive(Clone)]
pub struct AgentExecutor {
    pub(super) name: String,
    agents: Arc<dyn AgentClientFactory>,
    root: PathBuf,
    pub(super) model: Option<String>,
    configure: Configure,
    pub(super) clock: Arc<dyn Clock>,
    commands: Option<ProcessRunner>,
    judge: Option<JudgeFactory>,
}

impl AgentExecutor {
    /// Creates the executor `name` on a backend, for tasks in `root` and below.
    pub fn new(
        name: impl Into<String>,
        agents: impl AgentClientFactory + 'static,
        root: impl Into<PathBuf>,
    ) -> Self {
        Self {
            name: name.into(),
            agents: Arc::new(agents),
            root: root.into(),
            model: None,
            configure: Arc::new(|builder| builder),
            clock: Arc::new(SystemClock),
            commands: None,
            judge: None,
        }
    }

    /// Sets another root folder for tasks, for example a worktree.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Sets the model of tasks that name none.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Configures the sessions, like those of a run: Bash policy, grants, hooks, observers, budget,
    /// sandbox, tool server.
    ///
    /// ```
    /// use autonoe_core::{Budget, CostUsd};
    /// use autonoe_harness::AgentExecutor;
    ///
    /// fn thrifty(executor: AgentExecutor) -> AgentExecutor {
    ///     executor.sessions(|builder| {
    ///         builder.budget(Budget::default().with_cost(CostUsd::from_cents(50)))
    ///     })
    /// }
    /// ```
    #[must_use]
    pub fn sessions(
        mut self,
        configure: impl Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync + 'static,
    ) -> Self {
        self.configure = Arc::new(configure);
        self
    }

    /// Sets the clock; the system clock by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Sets how commands of criteria are run. Their working directory is that of the task.
    #[must_use]
    pub fn commands(mut self, commands: ProcessRunner) -> Self {
        self.commands = Some(commands);
        self
    }

    /// Sets the judges of statements that no command can check, by the folder of the task; see
    /// [`judge_in`](Self::judge_in).
    #[must_use]
    pub fn statement_judge(
        mut self,
        judges: impl Fn(&Path) -> Arc<dyn Judge> + Send + Sync + 'static,
    ) -> Self {
        self.judge = Some(Arc::new(judges));
        self
    }

    /// Returns a judge that works in a folder, each time in a new session on the backend of this
    /// executor.
    pub fn judge_in(&self, folder: impl Into<PathBuf>) -> Arc<dyn Judge> {
        Arc::new(AgentJudge {
            executor: self.clone(),
            folder: folder.into(),
        })
    }

    /// Makes its own backend the judge, in further sessions that can change nothing. A backend that
    /// can bypass the gate cannot be restricted in this way, and does not judge.
    #[must_use]
    pub fn self_judging(self) -> Self {
        let judge = self.clone();
        self.statement_judge(move |folder| judge.judge_in(folder))
    }

    /// Returns the session builder of a task in `folder`.
    pub(super) fn builder(&self, folder: &Path, model: Option<&str>) -> SessionRunnerBuilder {
        let builder = SessionRunner::builder(folder).agents(self.agents.clone());
        let builder = (self.configure)(builder).clock(self.clock.clone());
        // Set on the builder and not in the order: a cost budget is refused for a model of unknown
        // cost.
        match model.map(str::to_owned) {
            Some(model) => builder.models(Models {
                planning: Some(model.clone()),
                implementation: Some(model),
            }),
            None => builder,
        }
    }

    fn folder(&self, task: &Task) -> Result<PathBuf, ExecuteError> {
        resolve_folder(&self.root, task.cwd.as_deref()).map_err(|(folder, reason)| {
            ExecuteError::Folder {
                task: task.id.clone(),
                folder,
                reason,
            }
        })
    }

    fn result(&self, task: &Task, performed: PerformedSession) -> ExecutionReport {
        let end = ExecutionOutcome::from_session(&performed.result, task.timeout_seconds);
        let mut result = ExecutionReport::new(task, &self.name, end);
        let calls = performed.tool_calls.iter();
        result.denied = calls
            .clone()
            .filter(|call| call.status == Some(ToolStatus::Denied))
            .map(|call| call.tool.clone())
            .collect();
        result.calls = calls
            .map(|call| match &call.target {
                Some(target) => format!("{} {target}", call.tool),
                None => call.tool.clone(),
            })
            .collect();
        result.output = performed.text;
        result.answer = performed.answer;
        result.conversation = performed.result.agent_session;
        result.cost = performed.result.cost;
        result.tokens = performed.result.tokens;
        result
    }

    /// Runs the session of a task, and returns whether it continued a conversation. A conversation
    /// that cannot be continued is replaced by a new one, in the remaining time.
    async fn perform(
        &self,
        task: &Task,
        execution: &Execution,
        folder: &Path,
        model: Option<&str>,
    ) -> Result<(Result<PerformedSession, FlowExit>, bool), BuildError> {
        let started = self.clock.now();
        let limit = execution.budget.time;
        let time = limit.map_or(task.time(), |limit| limit.min(task.time()));
        let mut resume = execution.resume.as_ref();
        let mut lost: Option<SessionReport> = None;
        loop {
            let mut builder = self.builder(folder, model);
            if let Some(directory) = &execution.conversations {
                builder = builder.conversations(directory);
            }
            let start = FlowStart::new("task").parameters(json!({"task": task.id}));
            let mut continued = false;
            let mut order = |can: &Capabilities| {
                let resume = resume.filter(|_| can.resume.is_yes());
                continued = resume.is_some();
                session_order(task, execution.context.as_deref(), resume)
            };
            let left = time.saturating_sub(elapsed_since(started, &*self.clock));
            let control = &execution.control;
            let opened = open_sessions(builder, start, control, &*self.clock, left).await?;
            let mut performed = match opened {
                Ok((mut open, left)) => {
                    let limits = execution.budget.with_time(left);
                    let order = order(open.capabilities()).budget(limits);
                    let performed = open.run(order).await;
                    close(open, FlowExit::from(&performed.result.end));
                    Ok(performed)
                }
                Err(exit) => Err(exit),
            };
            match &mut performed {
                Ok(performed) if continued && is_lost(&performed.result) => {
                    let end = &performed.result.end;
                    tracing::warn!(task = %task.id, %end, "cannot continue the conversation");
                    resume = None;
                    lost = Some(performed.result.clone());
                    continue;
                }
                Ok(performed) => {
                    if let Some(lost) = lost {
                        performed.result.cost.merge(lost.cost);
                        performed.result.tokens += lost.tokens;
                    }
                }
                Err(_) => {}
            }
            return Ok((performed, continued));
        }
    }

    fn check(&self, task: &Task) -> Result<PathBuf, ExecuteError> {
        task.validate()?;
        match &task.cli {
            Some(cli) if *cli != self.name => Err(ExecuteError::WrongCli {
                task: task.id.clone(),
                cli: cli.clone(),
                executor: self.name.clone(),
            }),
            _ => self.folder(task),
        }
    }
}

#[async_trait]
impl Executor for AgentExecutor {
    fn cli_name(&self) -> &str {
        &self.name
    }

    fn default_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError> {
        let folder = self.check(task)?;
        InvalidValue::check_model("model(..)", self.model.as_deref()).map_err(|invalid| {
            ExecuteError::Setup {
                executor: self.name.clone(),
                source: invalid.into(),
            }
        })?;
        let models = [&execution.model, &task.model, &self.model];
        let model = models.into_iter().find_map(Clone::clone);
        let started_at = self.clock.now();
        let performed = self.perform(task, execution, &folder, model.as_deref());
        let (performed, continued) = performed.await.map_err(|source| ExecuteError::Setup {
            executor: self.name.clone(),
            source,
        })?;
        let seconds = task.timeout_seconds;
        let mut result = match performed {
            Err(exit) => {
                let end = ExecutionOutcome::not_started(&exit, seconds);
                ExecutionReport::new(task, &self.name, end)
            }
            Ok(performed) => self.result(task, performed),
        };
        result.continued = continued;
        result.model = model;
        result.started_at = started_at;
        result.duration = elapsed_since(started_at, &*self.clock);
        tracing::debug!(task = %task.id, executor = %self.name, success = result.is_success(), "task ended");
        Ok(result)
    }

    async fn verify_success(
        &self,
        task: &Task,
        result: &ExecutionReport,
        budget: &VerificationBudget,
    ) -> Verification {
        if result.task != task.id {
            return Verification::unverified(format!(
                "the result belongs to the task {}, not to {}",
                result.task, task.id
            ));
        }
        if let Some(error) = result.error() {
            return Verification::failed(format!("the execution {error}"));
        }
        let Some(criteria) = &task.success_criteria else {
            return Verification::passed(
                "the agent finished its turn, and the task has no success criteria",
            );
        };
        let folder = match self.folder(task) {
            Ok(folder) => folder,
            Err(error) => return Verification::unverified(error.to_string()),
        };
        let commands = self
            .commands
            .clone()
            .map(|commands| commands.directory(&folder));
        let judge = self.judge.as_ref().map(|judges| judges(&folder));
        let context = VerificationContext {
            commands: commands.as_ref(),
            judge: judge.as_deref(),
            budget: Some(budget),
            ..VerificationContext::new(task, result, &folder)
        };
        criteria.verify(&context).await
    }
}

/// Returns the order of a session for `task`, which continues a conversation or starts one.
fn session_order(
    task: &Task,
    context: Option<&str>,
    resume: Option<&AgentSessionId>,
) -> SessionOrder {
    let order = match resume {
        Some(conversation) => {
            SessionOrder::new(follow_up_prompt(task, context)).resume(conversation.clone())
        }
        None => SessionOrder::new(task_prompt(task, context)),
    };
    order.name(format!("task-{}", task.id))
}

/// Returns whether a session failed before its backend had resumed the conversation.
fn is_lost(result: &SessionReport) -> bool {
    matches!(result.end, SessionEnd::Failed { .. }) && result.agent_session.is_none()
}

impl fmt::Debug for AgentExecutor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentExecutor")
            .field("name", &self.name)
            .field("root", &self.root)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}

/// Opens the sessions of one flow within `time`, and returns the rest of the time.
///
/// # Errors
///
/// The builder is invalid; or, inside, the flow did not start.
async fn open_sessions(
    builder: SessionRunnerBuilder,
    start: FlowStart,
    control: &RunControl,
    clock: &dyn Clock,
    time: Duration,
) -> Result<Result<(OpenSessions, Duration), FlowExit>, BuildError> {
    let started = clock.now();
    let sessions = builder.build_sessions()?;
    let opened = tokio::select! {
        biased;
        opened = sessions.open(start, control) => opened,
        () = clock.sleep(time) => return Ok(Err(timed_out())),
    };
    let open = match opened {
        Ok(open) => open,
        Err(not_opened) => return Ok(Err(not_opened.report().exit.clone())),
    };
    let left = time.saturating_sub(elapsed_since(started, clock));
    if left.is_zero() {
        close(open, timed_out());
        return Ok(Err(timed_out()));
    }
    Ok(Ok((open, left)))
}

fn timed_out() -> FlowExit {
    FlowExit::BudgetExceeded {
        budget: BudgetKind::Time,
    }
}

/// Returns the time since `started`; zero if the clock was set back.
fn elapsed_since(started: Timestamp, clock: &dyn Clock) -> Duration {
    let elapsed = clock.now().duration_since(started);
    Duration::try_from(elapsed).unwrap_or_default()
}

fn close(open: OpenSessions, exit: FlowExit) {
    open.close(exit, json!({}));
}

/// Time limit of a judge.
const TEN_MINUTES: Duration = Duration::from_secs(600);

/// Judges in a folder, in sessions on the backend of an executor.
struct AgentJudge {
    executor: AgentExecutor,
    folder: PathBuf,
}

#[async_trait]
impl Judge for AgentJudge {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Judged, Failure> {
        let executor = &self.executor;
        let model = question.model.or(executor.model.as_deref());
        let builder = executor.builder(&self.folder, model);
        let start = FlowStart::new("judge").parameters(json!({"name": question.name}));
        let time = question.budget.time;
        let time = time.map_or(TEN_MINUTES, |limit| limit.min(TEN_MINUTES));
        let started = executor.clock.now();
        // Dropping the future cancels the session.
        let control = RunControl::new();
        let opened = open_sessions(builder, start, &control, &*executor.clock, time).await;
        let opened = opened.map_err(|error| Failure::permanent("not_set_up", error.to_string()))?;
        let (mut open, left) = opened.map_err(|exit| match exit {
            FlowExit::Failed { error } => error,
            exit => Failure::retryable("not_started", exit.to_string()),
        })?;
        let limited = JudgeQuestion {
            model: None,
            budget: question.budget.with_time(left),
            ..*question
        };
        let mut judged = SessionJudge::new(&mut open).judge(&limited).await?;
        close(open, FlowExit::from(&judged.session.end));
        // The start of the backend is charged as well.
        judged.session.duration = elapsed_since(started, &*executor.clock);
        Ok(judged)
    }
}
