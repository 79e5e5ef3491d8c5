//! What looks at a tool call before it happens.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolCall;

/// Looks at a tool call before it happens.
///
/// An implementer owes:
/// - an answer in bounded time, without blocking the thread; the
///   [gate](super::Gate) blocks the call when a hook panics or takes too long;
/// - no side effect on the project: a hook decides, it does not carry out the call;
/// - a block when it cannot tell.
///
/// A caller may assume that it can be called from several tasks at once. For
/// watching without deciding there is [`RunObserver`](super::RunObserver). The
/// smallest hook is a closure: [`hook_fn`].
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::{HookDecision, PreToolUseHook, ToolCall, ToolKind};
///
/// struct NoForcePush;
///
/// #[async_trait]
/// impl PreToolUseHook for NoForcePush {
///     fn name(&self) -> &str {
///         "no-force-push"
///     }
///
///     fn matches(&self, call: &ToolCall) -> bool {
///         matches!(call.kind, ToolKind::Shell { .. })
///     }
///
///     async fn check(&self, call: &ToolCall) -> HookDecision {
///         match &call.kind {
///             ToolKind::Shell { command } if command.contains("push --force") => {
///                 HookDecision::block("history is shared; push without --force")
///             }
///             _ => HookDecision::Pass,
///         }
///     }
/// }
/// ```
#[async_trait]
pub trait PreToolUseHook: Send + Sync {
    /// Names the hook in reports, for example `bash-security`.
    fn name(&self) -> &str;

    /// Tells whether the hook wants to see `call`. By default it sees every call.
    fn matches(&self, call: &ToolCall) -> bool {
        let _ = call;
        true
    }

    /// Decides about `call`.
    async fn check(&self, call: &ToolCall) -> HookDecision;
}

/// What a hook decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[must_use = "a decision that is not looked at guards nothing"]
pub enum HookDecision {
    /// It has nothing to say; the next one decides.
    Pass,
    /// The call may run; later hooks and grants are not asked.
    Approve,
    /// The call may not run.
    Block {
        /// Why, in words that the agent can act on.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one. Agents do not
        /// see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl HookDecision {
    /// Blocks for `reason`.
    pub fn block(reason: impl Into<String>) -> Self {
        Self::Block {
            reason: reason.into(),
            remedy: None,
        }
    }

    /// Adds the setting with which the operator can allow the call. Only blocks have one; other
    /// decisions are returned unchanged.
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        match self {
            Self::Block { reason, .. } => Self::Block {
                reason,
                remedy: Some(remedy.into()),
            },
            other => other,
        }
    }
}

/// Makes a hook of a closure.
///
/// ```
/// use autonoe_core::{HookDecision, ToolKind, hook_fn};
///
/// let no_web = hook_fn("no-web", |call| match &call.kind {
///     ToolKind::Fetch { .. } => HookDecision::block("this project works offline"),
///     _ => HookDecision::Pass,
/// });
/// ```
pub fn hook_fn<F>(name: impl Into<String>, decide: F) -> Arc<dyn PreToolUseHook>
where
    F: Fn(&ToolCall) -> HookDecision + Send + Sync + 'static,
{
    Arc::new(HookFn {
        name: name.into(),
        decide,
    })
}

struct HookFn<F> {
    name: String,
    decide: F,
}

#[async_trait]
impl<F> PreToolUseHook for HookFn<F>
where
    F: Fn(&ToolCall) -> HookDecision + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn check(&self, call: &ToolCall) -> HookDecision {
        (self.decide)(call)
    }
}

impl fmt::Debug for dyn PreToolUseHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hook {:?}", self.name())
    }
}
