//! Port of judges: models that decide statements which no command can check.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::event::Failure;
use autonoe_core::tool::JudgeVerdict;

use super::Task;
use crate::budget::VerificationBudget;

/// Lets a model judge whether a statement holds.
///
/// Implementations must use a separate session that cannot change anything, provide the tool
/// `verdict` (see [`verdict_tool`](autonoe_core::tool::verdict_tool)), and return the verdict given
/// through it. Prose of the model is not a verdict. The session is charged to the budget of the
/// question, and must not start when that is exhausted.
///
/// ```
/// use autonoe_core::event::Failure;
/// use autonoe_core::tool::JudgeVerdict;
/// use autonoe_harness::executor::JudgeQuestion;
/// use autonoe_harness::Judge;
///
/// /// A judge that likes short accounts.
/// struct Short;
///
/// #[async_trait::async_trait]
/// impl Judge for Short {
///     async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
///         Ok(Some(JudgeVerdict {
///             passed: question.output.len() < 80,
///             reason: format!("it has {} bytes", question.output.len()),
///         }))
///     }
/// }
/// ```
#[async_trait]
pub trait Judge: Send + Sync {
    /// Judges a statement. Returns `None` if the model finished without a verdict.
    ///
    /// # Errors
    ///
    /// The model could not be run.
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<J: Judge + ?Sized> Judge for Arc<J> {
    async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
        (**self).judge(question).await
    }
}

impl fmt::Debug for dyn Judge + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Judge")
    }
}

/// Statement to be judged, with its context.
#[derive(Clone, Copy, Debug)]
pub struct JudgeQuestion<'a> {
    /// The task that was executed.
    pub task: &'a Task,
    /// The folder of the task.
    pub folder: &'a Path,
    /// The statement.
    pub statement: &'a str,
    /// The output of the agent that worked on the task. It may be wrong.
    pub output: &'a str,
    /// The model of the judge; the judge's default if `None`.
    pub model: Option<&'a str>,
    /// The account that pays for the session; `None` if it is not counted.
    pub budget: Option<&'a VerificationBudget>,
}
