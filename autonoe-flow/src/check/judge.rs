//! [`StepJudge`]: a model that judges the response of a step.

use async_trait::async_trait;

use super::StepCheckContext;
use crate::definition::PromptRef;
use crate::error::{FlowError, FlowErrorKind};

pub use autonoe_core::tool::JudgeVerdict;

/// Lets a model judge the response of a step.
///
/// An implementation runs its own session with the tool `verdict` (see
/// [`VerdictSlot`](crate::tools::VerdictSlot)), passes the whole response to the model (see
/// [`StepCheckContext::evidence`]), and returns the verdict that the model gave through that tool.
/// The model's text is not a verdict.
///
/// ```
/// use autonoe_flow::check::StepCheckContext;
/// use autonoe_flow::definition::PromptRef;
/// use autonoe_flow::{FlowError, JudgeVerdict, StepJudge};
///
/// /// A judge that likes short answers.
/// struct Short;
///
/// #[async_trait::async_trait]
/// impl StepJudge for Short {
///     async fn judge(
///         &self,
///         _: &PromptRef,
///         answer: &StepCheckContext<'_>,
///     ) -> Result<Option<JudgeVerdict>, FlowError> {
///         Ok(Some(JudgeVerdict {
///             passed: answer.text.len() < 80,
///             reason: format!("it has {} bytes", answer.text.len()),
///         }))
///     }
/// }
/// ```
#[async_trait]
pub trait StepJudge: Send + Sync {
    /// Judges `answer` with `prompt`. Returns `None` if the model finished without a verdict.
    ///
    /// # Errors
    ///
    /// The model could not be queried.
    async fn judge(
        &self,
        prompt: &PromptRef,
        answer: &StepCheckContext<'_>,
    ) -> Result<Option<JudgeVerdict>, FlowError>;
}

/// Rejects every request. For definitions without prompt checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoJudge;

#[async_trait]
impl StepJudge for NoJudge {
    async fn judge(
        &self,
        _: &PromptRef,
        _: &StepCheckContext<'_>,
    ) -> Result<Option<JudgeVerdict>, FlowError> {
        Err(FlowError::new(
            FlowErrorKind::DependencyResolution,
            "no model is configured to judge the step",
        ))
    }
}
