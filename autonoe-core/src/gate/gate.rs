//! [`Gate`], the single decision point for tool calls, and its [`GateDecision`].

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::event::{Events, InvalidValue, RunEventKind};
use crate::gate::guard::PathGuard;
use crate::gate::lexical_path::resolver::Resolver;
use crate::gate::{Grants, HookDecision, PreToolUseHook, ProjectPaths};
use crate::tool::{CallRecords, ToolCall, ToolKind, Toolbox};

/// Decides whether a tool call may run. Every backend uses the same gate.
///
/// The gate decides in this order:
/// 1. A malformed call is denied.
/// 2. **Guards** may block. They never approve: an approval counts as a pass.
/// 3. The user's **hooks** run in order: the first block wins, an approval ends the chain, and a
///    pass continues with the next hook.
/// 4. The **grants** apply. A call without a grant is denied.
///
/// A guard or hook that panics or exceeds the time limit blocks the call. After the end of the
/// session, every call is denied.
///
/// ```
/// use autonoe_core::gate::{Gate, Grants, ProjectPaths};
/// use autonoe_core::{HookDecision, ToolCall, hook_fn};
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
    /// Default time limit of one hook.
    pub const DEFAULT_TIME_LIMIT: Duration = Duration::from_secs(10);

    /// Creates a gate without guards and hooks, which allows only what `grants` permits.
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

    /// Adds a guard after the existing ones.
    #[must_use]
    pub fn with_guard(mut self, guard: impl PreToolUseHook + 'static) -> Self {
        self.guards.push(Arc::new(guard));
        self
    }

    /// Adds a hook after the existing ones.
    #[must_use]
    pub fn with_hook(mut self, hook: impl PreToolUseHook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Sets the time limit of one hook, after which the call is blocked.
    ///
    /// # Errors
    ///
    /// The limit is zero, so that every hook would block every call.
    pub fn with_time_limit(mut self, limit: Duration) -> Result<Self, InvalidValue> {
        InvalidValue::check_time("with_time_limit(0)", limit)?;
        self.time_limit = limit;
        Ok(self)
    }

    /// Sets the handle through which decisions are emitted.
    #[must_use]
    pub fn with_events(mut self, events: Events) -> Self {
        self.events = events;
        self
    }

    /// Denies every call once `over`, the token of the ended session, is cancelled.
    #[must_use]
    pub fn with_end_token(mut self, over: CancellationToken) -> Self {
        self.over = over;
        self
    }

    /// Sets the records in which calls of Autonoe's tools are announced.
    pub(crate) fn with_records(mut self, records: CallRecords) -> Self {
        self.records = Some(records);
        self
    }

    /// Returns the grants.
    pub fn grants(&self) -> &Grants {
        &self.grants
    }

    /// Returns the directories that the rules refer to.
    pub fn project_paths(&self) -> &ProjectPaths {
        &self.project_paths
    }

    /// Decides whether `call` may run, and emits the decision to the observers.
    pub async fn decide(&self, call: &ToolCall) -> GateDecision {
        let mut decision = self.evaluate(call).await;
        if self.over.is_cancelled() {
            decision = GateDecision::deny("session-over", "the session is over", None);
        }
        // A call without an id is announced by the stream of the agent.
        let records = self.records.as_ref().filter(|_| !call.id.is_empty());
        if let (Some(records), Some(tool)) = (records, Toolbox::tool_name(&call.name)) {
            if decision.is_allowed() {
                records.announce(&call.id, tool, &call.input);
            } else {
                records.deny(&call.id, tool, &call.input);
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

    async fn evaluate(&self, call: &ToolCall) -> GateDecision {
        if let ToolKind::Malformed { reason } = &call.kind {
            return GateDecision::deny("malformed-call", reason.clone(), None);
        }
        // Dropped before the hooks run: nothing about the file system is kept while they decide.
        let mut resolver = Resolver::default();
        for guard in &self.guards {
            let decision = match guard.as_path_guard() {
                Some(path_guard) => judge_paths(guard.name(), &path_guard, call, &resolver),
                None => {
                    resolver = Resolver::default();
                    self.run_hook(guard, call).await
                }
            };
            if let HookDecision::Block { reason, remedy } = decision {
                return GateDecision::deny(guard.name(), reason, remedy);
            }
        }
        drop(resolver);
        for hook in &self.hooks {
            match self.run_hook(hook, call).await {
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
        match self.grants.granting_rule(call, &self.project_paths) {
            Some(by) => GateDecision::Allow { by },
            None => GateDecision::deny("grants", not_granted(call), Grants::remedy(call)),
        }
    }

    async fn run_hook(&self, hook: &Arc<dyn PreToolUseHook>, call: &ToolCall) -> HookDecision {
        let check = AssertUnwindSafe(async {
            if hook.matches(call) {
                hook.check(call, &self.project_paths).await
            } else {
                HookDecision::Pass
            }
        })
        .catch_unwind();
        match tokio::time::timeout(self.time_limit, check).await {
            Ok(Ok(decision)) => decision,
            Ok(Err(_panic)) => block_after_panic(hook.name()),
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

/// Returns the reason for denying a call that no rule grants. A session is granted its own tools
/// of Autonoe, so no permission rule helps with those of other sessions.
fn not_granted(call: &ToolCall) -> String {
    let name = &call.name;
    match Toolbox::tool_name(name) {
        Some("create" | "deprecate") => {
            format!("only planning sessions have the tool {name}; work without it")
        }
        Some(_) => format!("this session does not have the tool {name}; work without it"),
        None => format!("no permission rule grants this use of {name}; work without it"),
    }
}

/// Runs a guard that decides at once.
fn judge_paths(
    name: &str,
    guard: &PathGuard<'_>,
    call: &ToolCall,
    resolver: &Resolver,
) -> HookDecision {
    let judge = AssertUnwindSafe(|| guard.judge(call, resolver));
    std::panic::catch_unwind(judge).unwrap_or_else(|_panic| block_after_panic(name))
}

fn block_after_panic(hook: &str) -> HookDecision {
    tracing::error!(hook, "hook panicked; the call is blocked");
    HookDecision::block("a check of this call failed, so it is not allowed")
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

/// Decision about a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[must_use = "a decision has no effect unless the caller applies it"]
pub enum GateDecision {
    /// The call may run.
    Allow {
        /// The hook or the rule that allowed the call.
        by: String,
    },
    /// The call may not run.
    Deny {
        /// The guard or hook that blocked the call; `grants` if no grant permits it.
        by: String,
        /// Reason, worded for the agent.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl GateDecision {
    pub(super) fn deny(
        by: impl Into<String>,
        reason: impl Into<String>,
        remedy: Option<String>,
    ) -> Self {
        Self::Deny {
            by: by.into(),
            reason: reason.into(),
            remedy,
        }
    }

    /// Returns whether the call may run.
    pub fn is_allowed(&self) -> bool {
        matches!(self, Self::Allow { .. })
    }
}
