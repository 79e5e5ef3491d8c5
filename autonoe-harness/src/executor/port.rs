//! Who carries out tasks.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{AgentSessionId, Budget, RunControl};

use super::{ExecuteError, ExecutionResult, Task, Verification, VerificationTab};

/// Carries out tasks on one backend.
///
/// An implementer owes:
/// - sessions with the gate and the guards of a run, never one without;
/// - a result that is a success only if the backend itself said that the agent finished its turn,
///   whatever the agent said;
/// - an end within the time of the task, of the session and of all that it started; what was said
///   until then is in the result;
/// - an end soon after the [`Execution`] is cancelled;
/// - a verification that never takes "nobody could tell" for success;
/// - a new conversation where it cannot continue the one of [`Execution::resume`].
///
/// A caller may assume that several tasks can be carried out at once, as far as their folders
/// allow it. Trying again is the caller's.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_harness::{
///     ExecuteError, Execution, ExecutionEnd, ExecutionResult, Executor, Task, Verification,
/// };
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
///     async fn run(&self, task: &Task, _: &Execution) -> Result<ExecutionResult, ExecuteError> {
///         task.validate()?;
///         Ok(ExecutionResult::new(task, self.cli_name(), ExecutionEnd::Completed))
///     }
///
///     async fn verify_success(&self, _: &Task, _: &ExecutionResult) -> Verification {
///         Verification::unverified("nobody looked")
///     }
/// }
/// ```
#[async_trait]
pub trait Executor: Send + Sync {
    /// Names it, for example `codex`: what a task names in `cli`.
    fn cli_name(&self) -> &str;

    /// Returns the model of tasks that name none; `None` leaves the choice to the backend.
    fn default_model(&self) -> Option<&str>;

    /// Carries out `task`, from its prompt to the end of everything that was started for it.
    ///
    /// What goes wrong on the way is in the result.
    ///
    /// # Errors
    ///
    /// Nothing was begun, because the task is wrong.
    async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionResult, ExecuteError>;

    /// Finds out whether what `task` asks for holds, after `result` came of it.
    ///
    /// A result that is no success is not verified: it failed. A task without criteria passed if
    /// its result is a success.
    async fn verify_success(&self, task: &Task, result: &ExecutionResult) -> Verification;

    /// Finds out the same, and puts on `tab` what that takes: sessions of judges, which do not begin
    /// when nothing is left there to pay them.
    ///
    /// By default nothing is put there, which is right for who has no sessions to verify.
    async fn verify_on_tab(
        &self,
        task: &Task,
        result: &ExecutionResult,
        tab: &VerificationTab,
    ) -> Verification {
        let _ = tab;
        self.verify_success(task, result).await
    }
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
    ) -> Result<ExecutionResult, ExecuteError> {
        (**self).run(task, execution).await
    }

    async fn verify_success(&self, task: &Task, result: &ExecutionResult) -> Verification {
        (**self).verify_success(task, result).await
    }

    async fn verify_on_tab(
        &self,
        task: &Task,
        result: &ExecutionResult,
        tab: &VerificationTab,
    ) -> Verification {
        (**self).verify_on_tab(task, result, tab).await
    }
}

impl fmt::Debug for dyn Executor + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Executor").field(&self.cli_name()).finish()
    }
}

/// What is special about one execution of a task.
///
/// ```
/// use autonoe_core::RunControl;
/// use autonoe_harness::Execution;
///
/// let control = RunControl::new();
/// let again = Execution::new(&control)
///     .context("The last try left the tests red.")
///     .model("gpt-5.5");
/// # drop(again);
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Execution {
    /// What cancels it, holds it before it begins, and tells its agent something.
    pub control: RunControl,
    /// What the agent should know, beside the context of the task.
    pub context: Option<String>,
    /// The model, whatever the task says.
    pub model: Option<String>,
    /// The conversation of an earlier execution of the task, by
    /// [`ExecutionResult::conversation`], to continue.
    pub resume: Option<AgentSessionId>,
    /// The directory in which the backend keeps conversations, so that a later execution can
    /// continue them.
    pub conversations: Option<PathBuf>,
    /// What it may spend, beside what holds for all sessions of the executor.
    pub budget: Budget,
}

impl Execution {
    /// Makes an execution that `control` can cancel.
    pub fn new(control: &RunControl) -> Self {
        Self {
            control: control.clone(),
            ..Self::default()
        }
    }

    /// Says what the agent should know, beside the context of the task.
    #[must_use]
    pub fn context(mut self, text: impl Into<String>) -> Self {
        self.context = Some(text.into());
        self
    }

    /// Sets the model, whatever the task says.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = Some(name.into());
        self
    }

    /// Limits what it may spend, beside what holds for all sessions of the executor.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Continues the conversation of an earlier execution of the task where the backend can, and
    /// starts a new one otherwise. Whether it did is in [`ExecutionResult::continued`].
    #[must_use]
    pub fn continuing(mut self, conversation: AgentSessionId) -> Self {
        self.resume = Some(conversation);
        self
    }

    /// Sets the directory in which the backend keeps conversations, so that a later execution can
    /// continue them. Backends with a place of their own ignore it; others, such as models, cannot
    /// continue conversations without it. The caller deletes it.
    #[must_use]
    pub fn conversations(mut self, directory: impl Into<PathBuf>) -> Self {
        self.conversations = Some(directory.into());
        self
    }
}
