//! [`PreToolUseHook`] trait, a user-defined check of tool calls before they run, and the [`ProjectPaths`] that it receives.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use autonoe_security::PolicyScope;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::guard::PathGuard;
use crate::time::Mode;
use crate::tool::ToolCall;

/// Checks a tool call before it runs.
///
/// Requirements for implementations:
/// - The hook decides in bounded time, without blocking the thread. The [gate](crate::gate::Gate)
///   blocks the call if a hook panics or takes too long.
/// - The hook has no side effects on the project: it decides, it does not execute the call.
/// - In doubt, the hook blocks.
///
/// A hook may be called from several tasks concurrently. To observe calls without deciding, use a
/// [`RunObserver`](crate::RunObserver). The simplest hook is a closure: [`hook_fn`].
///
/// ```
/// use async_trait::async_trait;
/// use autonoe_core::gate::{PermissionRule, ProjectPaths};
/// use autonoe_core::{HookDecision, PreToolUseHook, ToolCall, ToolKind};
///
/// /// Blocks the commands that may match the rule.
/// struct NoPush(PermissionRule);
///
/// #[async_trait]
/// impl PreToolUseHook for NoPush {
///     fn name(&self) -> &str {
///         "no-push"
///     }
///
///     fn matches(&self, call: &ToolCall) -> bool {
///         matches!(call.kind, ToolKind::Shell { .. })
///     }
///
///     async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision {
///         if self.0.touches(call, project_paths) {
///             HookDecision::block("a person pushes; commit and stop")
///         } else {
///             HookDecision::Pass
///         }
///     }
/// }
///
/// let hook = NoPush("Bash(git push *)".parse()?);
/// # drop(hook);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[async_trait]
pub trait PreToolUseHook: Send + Sync {
    /// Returns the name of the hook for reports, for example `bash-security`.
    fn name(&self) -> &str;

    /// Returns whether the hook checks `call`. By default, it checks every call.
    fn matches(&self, call: &ToolCall) -> bool {
        let _ = call;
        true
    }

    /// Decides about `call`, which an agent makes in the project of `project_paths`.
    async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision;

    /// Returns the built-in guard that judges paths, so that the gate can pass it the paths that
    /// it has already resolved for the call.
    #[doc(hidden)]
    fn as_path_guard(&self) -> Option<PathGuard<'_>> {
        None
    }

    /// Combines two hooks into one that runs both.
    ///
    /// A block of either hook blocks the call. Otherwise, an approval of either hook approves it.
    ///
    /// ```
    /// use autonoe_core::gate::ProjectPaths;
    /// use autonoe_core::{HookDecision, PreToolUseHook, ToolCall, hook_fn};
    /// use serde_json::json;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let yes = hook_fn("yes", |_, _| HookDecision::Approve);
    /// let offline = hook_fn("offline", |call, _| match call.name.as_str() {
    ///     "WebFetch" => HookDecision::block("this project works offline"),
    ///     _ => HookDecision::Pass,
    /// });
    /// let both = yes.and(offline);
    ///
    /// let decide = async |name| {
    ///     let call = ToolCall::new(name, json!({}));
    ///     both.check(&call, &ProjectPaths::new("/srv/project")).await
    /// };
    /// assert_eq!(decide("Task").await, HookDecision::Approve);
    /// assert!(matches!(decide("WebFetch").await, HookDecision::Block { .. }));
    /// # });
    /// ```
    fn and<H: PreToolUseHook>(self, other: H) -> AndHook<Self, H>
    where
        Self: Sized,
    {
        AndHook {
            name: format!("{} and {}", self.name(), other.name()),
            first: self,
            second: other,
        }
    }

    /// Restricts the hook to calls for which `condition` returns `true`; all other calls pass.
    ///
    /// ```
    /// use autonoe_core::gate::ProjectPaths;
    /// use autonoe_core::{HookDecision, Mode, PreToolUseHook, ToolCall, hook_fn};
    /// use serde_json::json;
    ///
    /// let in_sync = hook_fn("no-web", |_, _| HookDecision::block("verify offline"))
    ///     .when(|call: &ToolCall| call.mode == Mode::Sync);
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let project_paths = ProjectPaths::new("/srv/project");
    /// let call = ToolCall::new("WebFetch", json!({"url": "https://example.com"}));
    /// assert_eq!(in_sync.check(&call, &project_paths).await, HookDecision::Pass);
    /// let call = call.in_mode(Mode::Sync);
    /// assert_eq!(in_sync.check(&call, &project_paths).await, HookDecision::block("verify offline"));
    /// # });
    /// ```
    fn when<C>(self, condition: C) -> WhenHook<Self, C>
    where
        Self: Sized,
        C: Fn(&ToolCall) -> bool + Send + Sync,
    {
        WhenHook {
            hook: self,
            condition,
        }
    }
}

#[async_trait]
impl<H: PreToolUseHook + ?Sized> PreToolUseHook for Arc<H> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn matches(&self, call: &ToolCall) -> bool {
        (**self).matches(call)
    }

    async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision {
        (**self).check(call, project_paths).await
    }

    fn as_path_guard(&self) -> Option<PathGuard<'_>> {
        (**self).as_path_guard()
    }
}

/// Combination of two hooks, created by [`PreToolUseHook::and`].
#[derive(Clone, Debug)]
pub struct AndHook<A, B> {
    name: String,
    first: A,
    second: B,
}

#[async_trait]
impl<A: PreToolUseHook, B: PreToolUseHook> PreToolUseHook for AndHook<A, B> {
    fn name(&self) -> &str {
        &self.name
    }

    fn matches(&self, call: &ToolCall) -> bool {
        self.first.matches(call) || self.second.matches(call)
    }

    async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision {
        let mut is_approved = false;
        for hook in [&self.first as &dyn PreToolUseHook, &self.second] {
            if !hook.matches(call) {
                continue;
            }
            match hook.check(call, project_paths).await {
                HookDecision::Pass => {}
                HookDecision::Approve => is_approved = true,
                block @ HookDecision::Block { .. } => return block,
            }
        }
        if is_approved {
            HookDecision::Approve
        } else {
            HookDecision::Pass
        }
    }
}

/// Hook for some calls only, created by [`PreToolUseHook::when`].
#[derive(Clone, Copy, Debug)]
pub struct WhenHook<H, C> {
    hook: H,
    condition: C,
}

#[async_trait]
impl<H, C> PreToolUseHook for WhenHook<H, C>
where
    H: PreToolUseHook,
    C: Fn(&ToolCall) -> bool + Send + Sync,
{
    fn name(&self) -> &str {
        self.hook.name()
    }

    fn matches(&self, call: &ToolCall) -> bool {
        self.hook.matches(call)
    }

    async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision {
        if (self.condition)(call) {
            self.hook.check(call, project_paths).await
        } else {
            HookDecision::Pass
        }
    }
}

/// Decision of a hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "decision", rename_all = "snake_case")]
#[must_use = "a decision has no effect unless the caller applies it"]
pub enum HookDecision {
    /// The hook does not decide; the next one does.
    Pass,
    /// The call may run; later hooks and grants are skipped.
    Approve,
    /// The call may not run.
    Block {
        /// Reason, worded so that the agent can act on it.
        reason: String,
        /// The setting with which the operator can allow the call, if there is one. Agents do not
        /// see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<String>,
    },
}

impl HookDecision {
    /// Blocks the call for `reason`.
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

/// Creates a hook from a closure that receives the call and the directories of the project.
///
/// ```
/// use autonoe_core::{HookDecision, ToolKind, hook_fn};
///
/// let no_web = hook_fn("no-web", |call, _| match &call.kind {
///     ToolKind::Fetch { .. } => HookDecision::block("this project works offline"),
///     _ => HookDecision::Pass,
/// });
/// ```
pub fn hook_fn<F>(name: impl Into<String>, decide: F) -> Arc<dyn PreToolUseHook>
where
    F: Fn(&ToolCall, &ProjectPaths) -> HookDecision + Send + Sync + 'static,
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
    F: Fn(&ToolCall, &ProjectPaths) -> HookDecision + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }

    async fn check(&self, call: &ToolCall, project_paths: &ProjectPaths) -> HookDecision {
        (self.decide)(call, project_paths)
    }
}

impl fmt::Debug for dyn PreToolUseHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hook {:?}", self.name())
    }
}

/// Directories of a project that guards, hooks and permission rules refer to.
///
/// The library never reads them from the environment: the caller that starts a run provides the
/// project directory and the home directory.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProjectPaths {
    /// Project directory, which `./` in a rule refers to. Absolute.
    pub project: PathBuf,
    /// A symlink to the project. Absolute and without `..`.
    ///
    /// A path through the link counts as a path of the project while the link points to the
    /// project.
    pub project_link: Option<PathBuf>,
    /// Home directory of the user, which `~/` refers to. If it is unknown, a rule with `~` that
    /// grants has no effect, and a rule with `~` that denies blocks every call that it might apply
    /// to.
    pub home: Option<PathBuf>,
}

impl ProjectPaths {
    /// Directories of a project that only Autonoe writes to: the state of runs and of fleets.
    pub const STATE_FOLDERS: [&str; 2] = [".autonoe", ".harness"];

    /// Directory outside of the project that agents may write to.
    ///
    /// All layers use the same directory: the file scope guard, the grants of a run, the Bash
    /// policy and the sandboxes that backends configure.
    pub const TEMPORARY: &str = "/tmp";

    /// Returns whether `name` is the name of the parent directory of session directories in
    /// [`TEMPORARY`](Self::TEMPORARY): `autonoe-UID`.
    ///
    /// Agents may never write there, because it contains scripts and settings that the programs of
    /// backends read.
    pub fn is_session_parent(name: &str) -> bool {
        autonoe_security::is_sessions_folder(name)
    }

    /// Creates the paths of `project`, without a home directory.
    pub fn new(project: impl Into<PathBuf>) -> Self {
        Self {
            project: project.into(),
            project_link: None,
            home: None,
        }
    }

    /// Sets a symlink to the project.
    #[must_use]
    pub fn with_project_link(mut self, link: impl Into<PathBuf>) -> Self {
        self.project_link = Some(link.into());
        self
    }

    /// Sets the home directory of the user.
    #[must_use]
    pub fn with_home(mut self, home: impl Into<PathBuf>) -> Self {
        self.home = Some(home.into());
        self
    }

    /// Returns the scope of the Bash policy for a run in `mode`.
    pub fn policy_scope(&self, mode: Mode) -> PolicyScope {
        let text = |path: &PathBuf| path.to_string_lossy().into_owned();
        PolicyScope {
            mode,
            project_link: self.project_link.as_ref().map(text),
            home: self.home.as_ref().map(text),
            ..PolicyScope::new(text(&self.project))
        }
    }

    /// Returns `path`, which must be absolute and normalised, with the project directory in place
    /// of the link to it.
    ///
    /// This changes only the text. The caller must also check the target of the link.
    pub(crate) fn without_link(&self, path: PathBuf) -> PathBuf {
        let below = |link: &PathBuf| path.strip_prefix(link).ok().map(Path::to_owned);
        match self.project_link.as_ref().and_then(below) {
            Some(below) => self.project.join(below),
            None => path,
        }
    }
}
