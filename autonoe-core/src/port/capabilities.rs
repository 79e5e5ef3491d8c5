//! What a backend can do, honestly graded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a backend can do. A run looks before it starts and refuses what is not safe.
///
/// ```
/// use autonoe_core::{Capabilities, HookCoverage, Support};
///
/// let capabilities = Capabilities::new("my-agent")
///     .with_version("1.2.0")
///     .with_hooks(HookCoverage::EveryTool)
///     .with_in_process_tools(Support::Yes);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Capabilities {
    /// Names the backend, for people.
    pub backend: String,
    /// The version of what is behind it, when it can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Which calls it asks our hooks about.
    pub hooks: HookCoverage,
    /// Whether it can keep its tools in an OS sandbox of its own.
    pub sandbox: Support,
    /// Whether it reports what a session cost.
    pub cost: Support,
    /// Whether it tells when a spent quota comes back.
    pub quota_reset: Support,
    /// Whether it can resume an earlier conversation.
    pub resume: Support,
    /// Whether it takes our tools as they are; otherwise they need a
    /// [`ToolServer`](super::ToolServer).
    pub in_process_tools: Support,
    /// Whether a running turn can be told more.
    pub steering: Support,
}

impl Capabilities {
    /// Makes the capabilities of a backend that can do nothing special.
    pub fn new(backend: impl Into<String>) -> Self {
        Self {
            backend: backend.into(),
            version: None,
            hooks: HookCoverage::None,
            sandbox: Support::No,
            cost: Support::No,
            quota_reset: Support::No,
            resume: Support::No,
            in_process_tools: Support::No,
            steering: Support::No,
        }
    }

    /// Sets the version.
    #[must_use]
    pub fn with_version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// Sets which calls it asks our hooks about.
    #[must_use]
    pub fn with_hooks(mut self, hooks: HookCoverage) -> Self {
        self.hooks = hooks;
        self
    }

    /// Sets whether it has a sandbox of its own.
    #[must_use]
    pub fn with_sandbox(mut self, sandbox: Support) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Sets whether it reports what a session cost.
    #[must_use]
    pub fn with_cost(mut self, cost: Support) -> Self {
        self.cost = cost;
        self
    }

    /// Sets whether it tells when a spent quota comes back.
    #[must_use]
    pub fn with_quota_reset(mut self, quota_reset: Support) -> Self {
        self.quota_reset = quota_reset;
        self
    }

    /// Sets whether it can resume an earlier conversation.
    #[must_use]
    pub fn with_resume(mut self, resume: Support) -> Self {
        self.resume = resume;
        self
    }

    /// Sets whether it takes our tools as they are.
    #[must_use]
    pub fn with_in_process_tools(mut self, in_process_tools: Support) -> Self {
        self.in_process_tools = in_process_tools;
        self
    }

    /// Sets whether a running turn can be told more.
    #[must_use]
    pub fn with_steering(mut self, steering: Support) -> Self {
        self.steering = steering;
        self
    }
}

/// Which tool calls a backend asks our hooks about before they run.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum HookCoverage {
    /// None: hooks guard nothing.
    None,
    /// Only those that the agent chooses to ask about.
    AskedOnly,
    /// Every call, without exception.
    EveryTool,
}

/// Whether a backend can do something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// It can.
    Yes,
    /// It cannot.
    No,
}

impl Support {
    /// Tells whether it can.
    pub fn is_yes(self) -> bool {
        self == Self::Yes
    }
}
