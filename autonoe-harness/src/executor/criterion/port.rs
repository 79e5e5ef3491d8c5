//! A criterion, which may be the embedder's own.

use std::fmt;
use std::path::Path;

use async_trait::async_trait;
use autonoe_core::SpecPort;
use autonoe_process::Commands;

use super::Verification;
use crate::executor::{ExecutionResult, Judge, Task, VerificationTab};

/// The port under which criteria register themselves.
pub const CRITERION_PORT: SpecPort = SpecPort::Other("criterion");

/// Something that must hold after a task.
///
/// An implementer is a plain serialisable struct; its tag reads `crate-thing`.
/// [`autonoe_core::register_spec!`] with the port `Other("criterion")` lists it. It owes an answer
/// in bounded time, changes nothing that the task is about, and never judges by what the agent
/// said: when it cannot tell, that is [`Verification::Unverified`].
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_harness::{Criterion, Task, Verification, Verifying};
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
///     async fn verify(&self, look: &Verifying<'_>) -> Verification {
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
    /// Says in a line what must hold, for the prompt of the agent.
    fn describe(&self) -> String;

    /// Lists what is wrong with it, before anything is begun.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether it asks a model, which costs money. Such a part of `any` is skipped once another
    /// part holds.
    fn needs_judge(&self) -> bool {
        false
    }

    /// Finds out whether it holds.
    async fn verify(&self, look: &Verifying<'_>) -> Verification;
}

/// What a criterion may look at and use.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Verifying<'a> {
    /// The task.
    pub task: &'a Task,
    /// What came of it: a success.
    pub result: &'a ExecutionResult,
    /// The folder that it was done in.
    pub folder: &'a Path,
    /// Runs commands in that folder; `None` if this executor runs none.
    pub commands: Option<&'a Commands>,
    /// Judges what no command can tell; `None` if there is nobody.
    pub judge: Option<&'a dyn Judge>,
    /// What it may spend, and where that is put; `None` if nobody counts it.
    pub tab: Option<&'a VerificationTab>,
}

impl<'a> Verifying<'a> {
    /// Looks at what came of a task in a folder, without commands and without a judge.
    pub fn new(task: &'a Task, result: &'a ExecutionResult, folder: &'a Path) -> Self {
        Self {
            task,
            result,
            folder,
            commands: None,
            judge: None,
            tab: None,
        }
    }
}
