//! A model that judges.

use async_trait::async_trait;

use super::StepCheckContext;
use crate::definition::PromptRef;
use crate::error::{FlowError, FlowErrorKind};

pub use autonoe_core::JudgeVerdict as Verdict;

/// Has a model judge the response of a step.
///
/// An implementation runs a session of its own with the tool `verdict` (see
/// [`VerdictSlot`](crate::VerdictSlot)), gives the model the whole response (see
/// [`StepCheckContext::evidence`]), and returns the verdict of that tool. The
/// text of the model is no verdict.
///
/// ```
/// use autonoe_flow::{FlowError, Judge, PromptRef, StepCheckContext, Verdict};
///
/// /// A judge that likes short answers.
/// struct Short;
///
/// #[async_trait::async_trait]
/// impl Judge for Short {
///     async fn judge(
///         &self,
///         _: &PromptRef,
///         answer: &StepCheckContext<'_>,
///     ) -> Result<Option<Verdict>, FlowError> {
///         Ok(Some(Verdict {
///             passed: answer.text.len() < 80,
///             reason: format!("it has {} bytes", answer.text.len()),
///         }))
///     }
/// }
/// ```
#[async_trait]
pub trait Judge: Send + Sync {
    /// Asks with `prompt`; `None` if the model came to its end and gave no verdict.
    ///
    /// # Errors
    ///
    /// The model could not be asked.
    async fn judge(
        &self,
        prompt: &PromptRef,
        answer: &StepCheckContext<'_>,
    ) -> Result<Option<Verdict>, FlowError>;
}

/// Judges nothing: where a definition has no check by prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoJudge;

#[async_trait]
impl Judge for NoJudge {
    async fn judge(
        &self,
        _: &PromptRef,
        _: &StepCheckContext<'_>,
    ) -> Result<Option<Verdict>, FlowError> {
        Err(FlowError::new(
            FlowErrorKind::DependencyResolution,
            "there is no model that could judge the step",
        ))
    }
}
