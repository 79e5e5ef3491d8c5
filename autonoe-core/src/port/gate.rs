//! The one place where it is decided whether a tool call may run.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{
    CallRecords, Events, Grants, HookDecision, PreToolUseHook, ProjectPaths, RunEventKind,
    ToolCall, ToolKind, Toolbox,
};
use crate::domain::InvalidValue;

/// Decides whether a tool call may run: one function for every backend.
///
/// In this order:
/// 1. A call that cannot be understood is denied.
/// 2. **Guards** may block. They never approve: an approval counts as a pass.
/// 3. The user's **hooks**, in order: the first block wins, an approval ends
///    the chain, a pass goes on.
/// 4. The **grants**. What nothing granted is denied.
///
/// A guard or hook that panics or exceeds the time limit blocks. Once the
/// session is over, everything is denied.
///
/// ```
/// use autonoe_core::{Gate, Grants, HookDecision, ProjectPaths, ToolCall, hook_fn};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none().with_tool("Task"))
///     .with_hook(hook_fn("careful", |call, _| match call.input["risky"].as_bool() {
///         Some(true) => HookDecision::block("too risky"),
///         _ => HookDecision::Pass,
///     }));
///
/// assert!(gate.decide(&ToolCall::new("Task", json!({}))).await.is_allowed());
/// assert!(!gate.decide(&ToolCall::new("Task", json!({"risky": true}))).await.is_allowed());
/// assert!(!gate.decide(&ToolCall::new("Unheard", json!({}))).await.is_allowed());
/// # });
/// ```
#[derive(Clone)]
pub struct Gate {
    guards: Vec<Arc<dyn PreToolUseHook>>,
    hooks: Vec<Arc<dyn PreToolUseHook>>,
    grants: Grants,
    project_paths: ProjectPaths,
    time_limit: Duration,
    events: Events,
    over: CancellationToken,
    records: Option<CallRecords>,
}

impl Gate {
    /// How long one hook may take, unless it is said otherwise.
    pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(10);

    /// Makes a gate without guards and hooks, on which only `grants` opens anything.
    pub fn new(project_paths: ProjectPaths, grants: Grants) -> Self {
        Self {
            guards: Vec::new(),
            hooks: Vec::new(),
            grants,
            project_paths,
            time_limit: Self::DEFAULT_TIME_LIMIT,
            events: Events::silent(),
            over: CancellationToken::new(),
            records: None,
        }
    }

    /// Adds a guard behind the others.
    #[must_use]
    pub fn with_guard(mut self, guard: impl PreToolUseHook + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Adds a hook behind the others.
    #[must_use]
    pub fn with_hook(mut self, hook: impl PreToolUseHook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Sets how long one hook may take before the call is blocked.
    ///
    /// # Errors
    ///
    /// The limit is zero, with which every hook would block every call.
    pub fn with_time_limit(mut self, limit: Duration) -> Result<Self, InvalidValue> {
        InvalidValue::check_time("with_time_limit(0)", limit)?;
        self.time_limit = limit;
        Ok(self)
    }

    /// Sets where decisions are told.
    #[must_use]
    pub fn with_events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Closes the gate for good once `over` is cancelled: the session it was made for has ended.
    #[must_use]
    pub fn until(mut self, over: CancellationToken) -> Self {
        self.over = over;
        self
    }

    /// Sets the records in which calls of our tools are announced.
    pub(crate) fn with_records(mut self, records: CallRecords) -> Self {
        self.records = Some(records);
        self
    }

    /// Returns what is granted.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns the directories that the rules refer to.
    pub fn project_paths(&self) -> &ProjectPaths {
        &self.project_paths
    }

    /// Decides whether `call` may run, and tells the observers.
    pub async fn decide(&self, call: &ToolCall) -> GateDecision {
        let mut decision = self.judge(call).await;
        if self.over.is_cancelled() {
            decision = GateDecision::deny("session-over", "the session is over", None);
        }
        if let (Some(records), Some(tool)) = (&self.records, Toolbox::tool_name(&call.name)) {
            match decision.is_allowed() {
                true => records.announce(&call.id, tool, &call.input),
                false => records.deny(&call.id, tool, &call.input),
            }
        }
        tracing::debug!(call = %call.id, tool = %call.name, ?decision, "gate decided");
        self.events
            .at_call(&call.id)
            .emit(RunEventKind::ToolDecided {
                call,
                decision: &decision,
            });
        decision
    }

    async fn judge(&self, call: &ToolCall) -> GateDecision {
        if let ToolKind::Malformed { reason } = &call.kind {
            return GateDecision::deny("malformed-call", reason.clone(), None);
        }
        for guard in &self.guards {
            if let HookDecision::Block { reason, remedy } = self.ask(guard, call).await {
                return GateDecision::deny(guard.name(), reason, remedy);
            }
        }
        for hook in &self.hooks {
            match self.ask(hook, call).await {
                HookDecision::Pass => {}
                HookDecision::Approve => {
                    return GateDecision::Allow {
                        by: hook.name().to_owned(),
                    };
                }
                HookDecision::Block { reason, remedy } => {
                    return GateDecision::deny(hook.name(), reason, remedy);
                }
            }
        }
        match self.grants.granting(call, &self.project_paths) {
            Some(by) => GateDecision::Allow { by },
            None => GateDecision::deny(
                "grants",
                format!("nothing grants this use of {}; work without it", call.name),
                Grants::remedy(call),
            ),
        }
    }

    async fn ask(&self, hook: &Arc<dyn PreToolUseHook>, call: &ToolCall) -> HookDecision {
        let answer = AssertUnwindSafe(async {
            if hook.matches(call) {
                hook.check(call, &self.project_paths).await
            } else {
                HookDecision::Pass
            }
        })
        .catch_unwind();
        match tokio::time::timeout(self.time_limit, answer).await {
            Ok(Ok(decision)) => decision,
            Ok(Err(_panic)) => {
                tracing::error!(hook = hook.name(), "hook panicked; the call is blocked");
                HookDecision::block("a check of this call failed, so it is not allowed")
            }
            Err(_elapsed) => {
                tracing::error!(
                    hook = hook.name(),
                    "hook took too long; the call is blocked"
                );
                HookDecision::block("a check of this call took too long, so it is not allowed")
            }
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("guards", &self.guards)
            .field("hooks", &self.hooks)
            .field("grants", &self.grants)
            .finish_non_exhaustive()
    }
}

/// Whether a tool call may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[must_use = "a decision that is not looked at guards nothing"]
pub enum GateDecision {
    /// It may run.
    Allow {
        /// The hook or the rule that opened the gate.
        by: String,
    },
    /// It may not run.
    Deny {
        /// The guard or hook that blocked it; `grants` when nothing granted it.
        by: String,
        /// Why, in words for the agent.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl GateDecision {
    fn deny(by: impl Into<String>, reason: impl Into<String>, remedy: Option<String>) -> Self {
        Self::Deny {
            by: by.into(),
            reason: reason.into(),
            remedy,
        }
    }

    /// Tells whether the call may run.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }
}
