//! Several executors, by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{
    ExecuteError, Execution, ExecutionResult, Executor, Task, Verification, VerificationTab,
};

/// Several executors, by name. The first that is added is the usual one.
///
/// ```
/// use std::sync::Arc;
///
/// use autonoe_harness::{Executor, Executors, Task};
///
/// fn pick(codex: Arc<dyn Executor>, gemini: Arc<dyn Executor>) -> Executors {
///     Executors::default().with(codex).with(gemini)
/// }
///
/// let nobody = Executors::default();
/// let task = Task::new("T-001", "Add a login page.")?.cli("codex");
/// let error = nobody.for_task(&task).expect_err("there is none");
/// assert_eq!(error.to_string(), "there is no executor \"codex\"; none is known");
/// # let _ = pick;
/// # Ok::<(), autonoe_harness::InvalidTaskId>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Executors {
    by_name: BTreeMap<String, Arc<dyn Executor>>,
    usual: Option<String>,
}

impl Executors {
    /// Adds an executor; of two with one name, the later counts.
    #[must_use]
    pub fn with(mut self, executor: impl Executor + 'static) -> Self {
        let name = executor.cli_name().to_owned();
        self.usual.get_or_insert_with(|| name.clone());
        self.by_name.insert(name, Arc::new(executor));
        self
    }

    /// Sets the one of tasks that name none.
    #[must_use]
    pub fn usual(mut self, name: impl Into<String>) -> Self {
        self.usual = Some(name.into());
        self
    }

    /// Returns the names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.by_name.keys().map(String::as_str)
    }

    /// Returns the executor of a name.
    ///
    /// # Errors
    ///
    /// There is none; the error lists those that there are.
    pub fn get(&self, name: &str) -> Result<&Arc<dyn Executor>, ExecuteError> {
        self.by_name
            .get(name)
            .ok_or_else(|| ExecuteError::UnknownCli {
                cli: name.to_owned(),
                known: self.names().map(str::to_owned).collect(),
            })
    }

    /// Returns the executor of a task: the one that it names, or the usual one.
    ///
    /// # Errors
    ///
    /// There is none; the error lists those that there are.
    pub fn for_task(&self, task: &Task) -> Result<&Arc<dyn Executor>, ExecuteError> {
        let named = task.cli.as_deref().or(self.usual.as_deref());
        self.get(named.unwrap_or_default())
    }

    /// Has a task carried out by its executor.
    ///
    /// # Errors
    ///
    /// Nothing was begun: there is no such executor, or the task is wrong.
    pub async fn run(
        &self,
        task: &Task,
        execution: &Execution,
    ) -> Result<ExecutionResult, ExecuteError> {
        self.for_task(task)?.run(task, execution).await
    }

    /// Has a result verified by the executor that it came from.
    ///
    /// # Errors
    ///
    /// There is no such executor.
    pub async fn verify_success(
        &self,
        task: &Task,
        result: &ExecutionResult,
    ) -> Result<Verification, ExecuteError> {
        let executor = self.get(&result.cli)?;
        Ok(executor.verify_success(task, result).await)
    }

    /// Has a result verified by the executor that it came from, and what that takes put on `tab`.
    ///
    /// # Errors
    ///
    /// There is no such executor.
    pub async fn verify_on_tab(
        &self,
        task: &Task,
        result: &ExecutionResult,
        tab: &VerificationTab,
    ) -> Result<Verification, ExecuteError> {
        let executor = self.get(&result.cli)?;
        Ok(executor.verify_on_tab(task, result, tab).await)
    }
}
