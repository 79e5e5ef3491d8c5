//! Tasks on any backend.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{
    AgentClientFactory, AgentSessionId, BuildError, Capabilities, Clock, FlowExit, FlowStart,
    InvalidValue, Models, PerformedSession, SessionEnd, SessionOrder, SessionResult, SessionRunner,
    SessionRunnerBuilder, SystemClock, ToolStatus,
};
use autonoe_process::Commands;
use serde_json::json;

use super::folder::folder;
use super::one_session::{one_session, since};
use super::{
    ExecuteError, Execution, ExecutionEnd, ExecutionResult, Executor, Judge, Task, Verification,
    VerificationTab, Verifying, follow_up_prompt, task_prompt,
};

type Configure = Arc<dyn Fn(SessionRunnerBuilder) -> SessionRunnerBuilder + Send + Sync>;

/// Carries out tasks on any backend, each in a session of its own.
///
/// The sessions are those of a run: [`sessions`](Self::sessions) says what holds for them, and
/// guards and gate are there whatever it says. Limits and budgets that are set there hold for each
/// task; the time is that of the task. A conversation that cannot be continued is replaced by a new
/// one within the same execution.
///
/// A task is done in the folder of the executor or in one below it. Commands of criteria are not
/// run unless it is said how, and nobody judges unless it is said who.
///
/// ```
/// use autonoe_harness::{AgentExecutor, Execution, Executor, Task};
/// # use autonoe_testkit::{ScriptedAgents, SessionScript, VirtualClock};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap()
/// #     .block_on(async {
/// # let agents = ScriptedAgents::new([SessionScript::new("work").says("Done.").ends()]);
/// # let folder = std::env::temp_dir();
/// let executor = AgentExecutor::new("codex", agents, folder).model("gpt-5.5");
/// # let executor = executor.clock(VirtualClock::new());
/// let task = Task::new("T-001", "Add a login page.")?;
///
/// let result = executor.run(&task, &Execution::default()).await?;
///
/// assert!(result.is_success());
/// assert!(executor.verify_success(&task, &result).await.is_success());
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
    commands: Option<Commands>,
    judge: Option<Arc<dyn Judge>>,
}

impl AgentExecutor {
    /// Makes the executor `name` of a backend, for tasks in `root` and below.
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

    /// Has tasks done in another folder and below, for example in a worktree.
    #[must_use]
    pub fn in_folder(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Sets the model of tasks that name none.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Says what holds for sessions, as for those of a run: Bash policy, grants, hooks, observers,
    /// budget, sandbox, tool server.
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

    /// Sets the clock; the machine's by default.
    #[must_use]
    pub fn clock(mut self, clock: impl Clock + 'static) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Says how commands of criteria are run; their directory is that of the task.
    #[must_use]
    pub fn commands(mut self, commands: Commands) -> Self {
        self.commands = Some(commands);
        self
    }

    /// Says who judges what no command can tell. An [`AgentExecutor`] is a judge, too.
    #[must_use]
    pub fn judged_by(mut self, judge: impl Judge + 'static) -> Self {
        self.judge = Some(Arc::new(judge));
        self
    }

    /// Says that its own backend judges, in further sessions that can change nothing. One that
    /// does not ask about every call cannot be held to that, and does not judge.
    #[must_use]
    pub fn judging_itself(self) -> Self {
        let judge = Arc::new(self.clone());
        self.judged_by(judge)
    }

    /// Returns what holds for the sessions of a task in `folder`.
    pub(super) fn builder(&self, folder: &Path, model: Option<&str>) -> SessionRunnerBuilder {
        let builder = SessionRunner::builder(folder).agents(self.agents.clone());
        let builder = (self.configure)(builder).clock(self.clock.clone());
        // Not in the order: a money budget is refused for a model that costs an unknown amount.
        match model.map(str::to_owned) {
            Some(model) => builder.models(Models {
                planning: Some(model.clone()),
                implementation: Some(model),
            }),
            None => builder,
        }
    }

    fn folder(&self, task: &Task) -> Result<PathBuf, ExecuteError> {
        folder(&self.root, task.cwd.as_deref()).map_err(|(folder, reason)| ExecuteError::Folder {
            task: task.id.clone(),
            folder,
            reason,
        })
    }

    fn result(&self, task: &Task, performed: PerformedSession) -> ExecutionResult {
        let end = ExecutionEnd::of(&performed.result, task.timeout_seconds);
        let mut result = ExecutionResult::new(task, &self.name, end);
        let denied = performed.tool_calls.iter();
        let denied = denied.filter(|call| call.status == Some(ToolStatus::Denied));
        result.denied = denied.map(|call| call.tool.clone()).collect();
        let calls = performed.tool_calls.iter();
        let calls = calls.map(|call| match &call.target {
            Some(target) => format!("{} {target}", call.tool),
            None => call.tool.clone(),
        });
        result.calls = calls.collect();
        result.output = performed.text;
        result.answer = performed.answer;
        result.conversation = performed.result.agent_session;
        result.cost = performed.result.cost;
        result.tokens = performed.result.tokens;
        result
    }

    /// Runs the session of a task, and tells whether it continued a conversation. One that cannot be
    /// continued is replaced by a new one, in the time that is left.
    async fn perform(
        &self,
        task: &Task,
        execution: &Execution,
        folder: &Path,
        model: Option<&str>,
    ) -> Result<(Result<PerformedSession, FlowExit>, bool), BuildError> {
        let began = self.clock.now();
        let time = execution.budget.time;
        let time = time.map_or(task.time(), |limit| limit.min(task.time()));
        let mut resume = execution.resume.as_ref();
        let mut lost: Option<SessionResult> = None;
        loop {
            let mut builder = self.builder(folder, model);
            if let Some(directory) = &execution.conversations {
                builder = builder.conversations(directory);
            }
            let start = FlowStart::new("task").parameters(json!({"task": task.id}));
            let mut continued = false;
            let order = |can: &Capabilities| {
                let resume = resume.filter(|_| can.resume.is_yes());
                continued = resume.is_some();
                session_order(task, execution.context.as_deref(), resume)
            };
            let left = time.saturating_sub(since(began, &*self.clock));
            let performed = one_session(
                builder,
                start,
                order,
                (&execution.control, &*self.clock),
                (left, execution.budget),
            );
            let mut performed = performed.await?;
            match &mut performed {
                Ok(performed) if continued && is_lost(&performed.result) => {
                    let end = &performed.result.end;
                    tracing::warn!(task = %task.id, %end, "the conversation cannot be continued");
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
    ) -> Result<ExecutionResult, ExecuteError> {
        let folder = self.check(task)?;
        InvalidValue::check_model("model(..)", self.model.as_deref()).map_err(|invalid| {
            ExecuteError::Setup {
                executor: self.name.clone(),
                source: invalid.into(),
            }
        })?;
        let model = [&execution.model, &task.model, &self.model];
        let model = model.into_iter().find_map(Clone::clone);
        let started_at = self.clock.now();
        let performed = self.perform(task, execution, &folder, model.as_deref());
        let (performed, continued) = performed.await.map_err(|source| ExecuteError::Setup {
            executor: self.name.clone(),
            source,
        })?;
        let seconds = task.timeout_seconds;
        let mut result = match performed {
            Err(exit) => {
                let end = ExecutionEnd::not_begun(exit, seconds);
                ExecutionResult::new(task, &self.name, end)
            }
            Ok(performed) => self.result(task, performed),
        };
        result.continued = continued;
        result.model = model;
        result.started_at = started_at;
        result.duration = since(started_at, &*self.clock);
        tracing::debug!(task = %task.id, executor = %self.name, success = result.is_success(), "task ended");
        Ok(result)
    }

    async fn verify_success(&self, task: &Task, result: &ExecutionResult) -> Verification {
        let unlimited = VerificationTab::default();
        self.verify_on_tab(task, result, &unlimited).await
    }

    async fn verify_on_tab(
        &self,
        task: &Task,
        result: &ExecutionResult,
        tab: &VerificationTab,
    ) -> Verification {
        if result.task != task.id {
            return Verification::unverified(format!(
                "the result is of the task {}, and not of {}",
                result.task, task.id
            ));
        }
        if let Some(error) = result.error() {
            return Verification::failed(format!("the execution {error}"));
        }
        let Some(criteria) = &task.success_criteria else {
            return Verification::passed("the agent finished its turn, and nothing else was asked");
        };
        let folder = match self.folder(task) {
            Ok(folder) => folder,
            Err(error) => return Verification::unverified(error.to_string()),
        };
        let commands = self.commands.clone();
        let commands = commands.map(|commands| commands.in_directory(&folder));
        let look = Verifying {
            commands: commands.as_ref(),
            judge: self.judge.as_deref(),
            tab: Some(tab),
            ..Verifying::new(task, result, &folder)
        };
        criteria.verify(&look).await
    }
}

/// Returns the order of a session about `task`, which continues a conversation about it or starts one.
fn session_order(
    task: &Task,
    context: Option<&str>,
    resume: Option<&AgentSessionId>,
) -> SessionOrder {
    let order = match resume {
        Some(conversation) => {
            SessionOrder::new(follow_up_prompt(task, context)).resuming(conversation.clone())
        }
        None => SessionOrder::new(task_prompt(task, context)),
    };
    order.named(format!("task-{}", task.id))
}

/// Tells whether a session failed before its backend had resumed the conversation.
fn is_lost(result: &SessionResult) -> bool {
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
