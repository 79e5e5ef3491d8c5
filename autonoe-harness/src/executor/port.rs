//! Port of executors, which run tasks on a backend.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::run::BuildError;
use autonoe_core::time::AgentSessionId;
use autonoe_core::{Budget, RunControl};

use super::{ExecutionReport, InvalidTask, Task, TaskId, Verification};
use crate::budget::VerificationBudget;

/// Runs tasks on one backend.
///
/// Implementations must guarantee:
/// - every session has the gate and the guards of a run;
/// - a result is a success only if the backend itself reported that the agent finished its turn,
///   whatever the agent claims;
/// - the session and everything that it started end within the time limit of the task, and the
///   output until then is in the result;
/// - the execution ends soon after the [`Execution`] is cancelled;
/// - an unverified criterion never counts as success;
/// - a new conversation is started if that of [`Execution::resume`] cannot be continued.
///
/// Callers may run several tasks at once, as far as their folders allow it. Retries are up to the
/// caller.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_harness::budget::VerificationBudget;
/// use autonoe_harness::executor::{ExecuteError, ExecutionOutcome, Verification};
/// use autonoe_harness::{Execution, ExecutionReport, Executor, Task};
///
/// /// Has everything done already.
/// struct Done;
///
/// #[async_trait]
/// impl Executor for Done {
///     fn cli_name(&self) -> &str {
///         "done"
///     }
///
///     fn default_model(&self) -> Option<&str> {
///         None
///     }
///
///     async fn run(&self, task: &Task, _: &Execution) -> Result<ExecutionReport, ExecuteError> {
///         task.validate()?;
///         Ok(ExecutionReport::new(task, self.cli_name(), ExecutionOutcome::Completed))
///     }
///
///     async fn verify_success(
///         &self,
///         _: &Task,
///         _: &ExecutionReport,
///         _: &VerificationBudget,
///     ) -> Verification {
///         Verification::unverified("no checks were run")
///     }
/// }
/// ```
#[async_trait]
pub trait Executor: Send + Sync {
    /// Returns the name, for example `codex`. Tasks refer to it in `cli`.
    fn cli_name(&self) -> &str;

    /// Returns the model of tasks that name none; `None` leaves the choice to the backend.
    fn default_model(&self) -> Option<&str>;

    /// Runs `task`, from its prompt to the end of everything that was started for it.
    ///
    /// Failures during the execution are reported in the result.
    ///
    /// # Errors
    ///
    /// Nothing was started, because the task is invalid.
    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError>;

    /// Verifies the success criteria of `task` after an execution with `result`.
    ///
    /// An unsuccessful result fails without verification. A task without criteria passes if its
    /// result is a success. Sessions of judges are charged to `budget`, and do not start when it is
    /// exhausted.
    async fn verify_success(
        &self,
        task: &Task,
        result: &ExecutionReport,
        budget: &VerificationBudget,
    ) -> Verification;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<E: Executor + ?Sized> Executor for Arc<E> {
    fn cli_name(&self) -> &str {
        (**self).cli_name()
    }

    fn default_model(&self) -> Option<&str> {
        (**self).default_model()
    }

    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError> {
        (**self).run(task, execution).await
    }

    async fn verify_success(
        &self,
        task: &Task,
        result: &ExecutionReport,
        budget: &VerificationBudget,
    ) -> Verification {
        (**self).verify_success(task, result, budget).await
    }
}

impl fmt::Debug for dyn Executor + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Executor").field(&self.cli_name()).finish()
    }
}

/// Settings of one execution of a task.
///
/// ```
/// use autonoe_core::RunControl;
/// use autonoe_harness::Execution;
///
/// let control = RunControl::new();
/// let again = Execution {
///     context: Some("The last try left the tests red.".to_owned()),
///     ..Execution::new(&control)
/// };
/// # drop(again);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Execution {
    /// Cancels the execution, pauses it before it starts, and sends messages to its agent.
    pub control: RunControl,
    /// Context for the agent, in addition to that of the task.
    pub context: Option<String>,
    /// The model, overriding that of the task.
    pub model: Option<String>,
    /// The conversation of an earlier execution of the task to continue: its
    /// [`ExecutionReport::conversation`]. If the backend cannot, it starts a new one;
    /// [`ExecutionReport::continued`] records which of them happened.
    pub resume: Option<AgentSessionId>,
    /// The directory in which the backend stores conversations, so that a later execution can
    /// continue them. Backends with their own storage ignore it; others, such as models, cannot
    /// continue conversations without it. The caller deletes it.
    pub conversations: Option<PathBuf>,
    /// The budget, in addition to the limits of all sessions of the executor.
    pub budget: Budget,
}

impl Execution {
    /// Creates an execution that `control` can cancel.
    pub fn new(control: &RunControl) -> Self {
        Self {
            control: control.clone(),
            ..Self::default()
        }
    }
}

/// Executors by name. The first one that is added is the default.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_harness::{Executor, Executors, Task};
///
/// fn pick(codex: Arc<dyn Executor>, gemini: Arc<dyn Executor>) -> Executors {
///     Executors::default().executor(codex).executor(gemini)
/// }
///
/// let empty = Executors::default();
/// let task = Task::new("T-001", "Add a login page.")?.cli("codex");
/// let error = empty.for_task(&task).expect_err("there is none");
/// assert_eq!(error.to_string(), "there is no executor \"codex\"; no executors are known");
/// # let _ = pick;
/// # Ok::<(), autonoe_harness::executor::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Executors {
    by_name: BTreeMap<String, Arc<dyn Executor>>,
    default_name: Option<String>,
}

impl Executors {
    /// Adds an executor. It replaces one of the same name.
    #[must_use]
    pub fn executor(mut self, executor: impl Executor + 'static) -> Self {
        let name = executor.cli_name().to_owned();
        self.default_name.get_or_insert_with(|| name.clone());
        self.by_name.insert(name, Arc::new(executor));
        self
    }

    /// Sets the default executor.
    #[must_use]
    pub fn default_executor(mut self, name: impl Into<String>) -> Self {
        self.default_name = Some(name.into());
        self
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the executor with this name.
    ///
    /// # Errors
    ///
    /// There is none; the error lists the known names.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Executor>, ExecuteError> {
        self.by_name
            .get(name)
            .ok_or_else(|| ExecuteError::UnknownCli {
                cli: name.to_owned(),
                known: self.names().map(str::to_owned).collect(),
            })
    }

    /// Returns the executor of a task: the one that it names, or the default.
    ///
    /// # Errors
    ///
    /// There is none; the error lists the known names.
    pub fn for_task(&self, task: &Task) -> Result<&Arc<dyn Executor>, ExecuteError> {
        let named = task.cli.as_deref().or(self.default_name.as_deref());
        self.get(named.unwrap_or_default())
    }

    /// Runs a task on its executor.
    ///
    /// # Errors
    ///
    /// Nothing was started: there is no such executor, or the task is invalid.
    pub async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionReport, ExecuteError> {
        self.for_task(task)?.run(task, execution).await
    }

    /// Verifies a result with the executor that produced it, charged to `budget`.
    ///
    /// # Errors
    ///
    /// There is no such executor.
    pub async fn verify_success(
        &self,
        task: &Task,
        result: &ExecutionReport,
        budget: &VerificationBudget,
    ) -> Result<Verification, ExecuteError> {
        let executor = self.get(&result.cli)?;
        Ok(executor.verify_success(task, result, budget).await)
    }
}

/// Error of a task that was not started, because it is invalid. A retry gives the same error.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// The task itself is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidTask),
    /// No executor has this name.
    #[error("there is no executor {cli:?}; {}", list(.known))]
    UnknownCli {
        /// The name.
        cli: String,
        /// The names of all executors.
        known: Vec<String>,
    },
    /// The task is for another executor.
    #[error("the task {task} is for the executor {cli:?}, but was given to {executor:?}")]
    WrongCli {
        /// The task.
        task: TaskId,
        /// The executor that the task names.
        cli: String,
        /// The executor that was called.
        executor: String,
    },
    /// The folder of the task does not exist, or is not inside of the folder of the executor.
    #[error("cannot work on the task {task} in {folder:?}: {reason}")]
    Folder {
        /// The task.
        task: TaskId,
        /// The folder.
        folder: PathBuf,
        /// The problem with it.
        reason: String,
    },
    /// The session runner cannot be built.
    #[error("cannot set up the sessions of the executor {executor:?}")]
    Setup {
        /// The executor.
        executor: String,
        /// The error of the builder.
        source: BuildError,
    },
}

fn list(names: &[String]) -> String {
    match names {
        [] => "no executors are known".to_owned(),
        names => format!("known executors: {}", names.join(", ")),
    }
}
