//! Help of a model that a tool asks for.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{ToolContext, ToolError};

/// What a tool asks a model for. See [`ToolError::assist`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct AssistRequest {
    /// What the model is told, all of it: it does not see the conversation.
    pub prompt: String,
    /// The most that it may answer; `None` leaves that to the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
}

impl AssistRequest {
    /// Asks for an answer to `prompt`.
    pub fn new(prompt: impl Into<String>) -> Self {
        Self {
            prompt: prompt.into(),
            max_tokens: None,
        }
    }
}

/// Answers what tools ask a model for.
///
/// A backend that can ask a model hands one to the tools with
/// [`ToolContext::with_assistant`]; a tool's request then never reaches the agent.
///
/// An implementer owes that the answer counts towards the budget of the session, and an error,
/// never an empty answer, when there is none.
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{AssistRequest, Assistant, ToolContext, ToolError};
///
/// struct Echo;
///
/// #[async_trait]
/// impl Assistant for Echo {
///     async fn assist(&self, request: &AssistRequest, _: &ToolContext) -> Result<String, ToolError> {
///         Ok(request.prompt.clone())
///     }
/// }
/// ```
#[async_trait]
pub trait Assistant: Send + Sync {
    /// Asks the model; `context` is that of the call which needs the answer.
    async fn assist(
        &self,
        request: &AssistRequest,
        context: &ToolContext,
    ) -> Result<String, ToolError>;
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<A: Assistant + ?Sized> Assistant for Arc<A> {
    async fn assist(
        &self,
        request: &AssistRequest,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        (**self).assist(request, context).await
    }
}

impl fmt::Debug for dyn Assistant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Assistant")
    }
}
