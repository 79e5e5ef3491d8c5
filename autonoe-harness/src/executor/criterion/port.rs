//! Port of criteria: [`Criterion`], and the context of a verification.

use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use autonoe_core::session::Judge;
use autonoe_core::spec::SpecPort;
use autonoe_process::ProcessRunner;

use super::Verification;
use crate::budget::VerificationBudget;
use crate::executor::{ExecutionReport, Task};

/// Registry port of criteria.
pub const CRITERION_PORT: SpecPort = SpecPort::Other("criterion");

/// A condition that must hold after a task.
///
/// Implementations are plain serialisable structs; their tag has the form `crate-thing`. List them
/// with [`autonoe_core::register_spec!`] and the port `Other("criterion")`. An implementation must
/// return in bounded time, must not change anything that the task is about, and must never rely on
/// what the agent claims. If it cannot decide, it returns [`Verification::Unverified`].
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_harness::executor::{Verification, VerificationContext};
/// use autonoe_harness::{Criterion, Task};
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// /// Nothing was refused.
/// #[derive(Debug, Serialize, Deserialize, JsonSchema)]
/// #[serde(deny_unknown_fields)]
/// struct NothingDenied {}
///
/// #[typetag::serde(name = "docs-nothing-denied")]
/// #[async_trait]
/// impl Criterion for NothingDenied {
///     fn describe(&self) -> String {
///         "no tool call is refused".to_owned()
///     }
///
///     async fn verify(&self, look: &VerificationContext<'_>) -> Verification {
///         match look.result.denied.as_slice() {
///             [] => Verification::passed("nothing was refused"),
///             denied => Verification::failed(format!("refused: {}", denied.join(", "))),
///         }
///     }
/// }
/// autonoe_core::register_spec!(Other("criterion"), NothingDenied, "docs-nothing-denied", {});
///
/// let task: Task = serde_json::from_str(
///     r#"{"id": "T-1", "goal": "Tidy up.", "successCriteria": {"type": "docs-nothing-denied"}}"#,
/// )?;
/// # assert!(task.validate().is_ok());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[typetag::serde(tag = "type")]
#[async_trait]
pub trait Criterion: fmt::Debug + Send + Sync {
    /// Describes the condition in a line, for the prompt of the agent.
    fn describe(&self) -> String;

    /// Validates the criterion, before any work starts. Returns its problems.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether verification uses a model, which costs money. Such a part of `any` is
    /// skipped once another part holds.
    fn needs_judge(&self) -> bool {
        false
    }

    /// Verifies the condition.
    async fn verify(&self, context: &VerificationContext<'_>) -> Verification;
}

/// Context of a verification.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct VerificationContext<'a> {
    /// The task.
    pub task: &'a Task,
    /// The result of its execution: a success.
    pub result: &'a ExecutionReport,
    /// The folder in which the task was executed.
    pub folder: &'a Path,
    /// Runs commands in that folder; `None` if this executor runs none.
    pub commands: Option<&'a ProcessRunner>,
    /// Judges statements that no command can check; `None` without a judge.
    pub judge: Option<&'a dyn Judge>,
    /// The account of the verification; `None` if it is not counted.
    pub budget: Option<&'a VerificationBudget>,
}

impl fmt::Debug for VerificationContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerificationContext")
            .field("task", &self.task.id)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl<'a> VerificationContext<'a> {
    /// Creates a context without commands and without a judge.
    pub fn new(task: &'a Task, result: &'a ExecutionReport, folder: &'a Path) -> Self {
        Self {
            task,
            result,
            folder,
            commands: None,
            judge: None,
            budget: None,
        }
    }
}
