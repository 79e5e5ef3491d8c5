//! Who judges what no command can tell.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_core::{Failure, JudgeVerdict};

use super::{Task, VerificationTab};

/// Has a model judge whether a statement holds.
///
/// An implementer owes a session of its own in which nothing can be changed, with the tool
/// `verdict` (see [`verdict_tool`](autonoe_core::verdict_tool)), and the verdict that came through
/// it. What the model says in prose is no verdict. What the session takes is put on the tab of the
/// question, and where nothing is left there, it does not begin.
///
/// ```
/// use autonoe_core::{Failure, JudgeVerdict};
/// use autonoe_harness::{Judge, JudgeQuestion};
///
/// /// A judge that likes short accounts.
/// struct Short;
///
/// #[async_trait::async_trait]
/// impl Judge for Short {
///     async fn judge(&self, question: &JudgeQuestion<'_>) -> Result<Option<JudgeVerdict>, Failure> {
///         Ok(Some(JudgeVerdict {
///             passed: question.account.len() < 80,
///             reason: format!("it has {} bytes", question.account.len()),
///         }))
///     }
/// }
/// ```
#[async_trait]
pub trait Judge: Send + Sync {
    /// Asks; `None` if the model came to its end and gave no verdict.
    ///
    /// # Errors
    ///
    /// The model could not be asked.
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

/// What is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct JudgeQuestion<'a> {
    /// The task that was worked on.
    pub task: &'a Task,
    /// Where that was.
    pub folder: &'a Path,
    /// What must hold.
    pub statement: &'a str,
    /// What the worker said. It may be wrong.
    pub account: &'a str,
    /// The model that judges; that of the judge by default.
    pub model: Option<&'a str>,
    /// What it may spend, and where that is put; `None` if nobody counts it.
    pub tab: Option<&'a VerificationTab>,
}
