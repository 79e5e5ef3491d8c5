//! Capabilities that backends around a vendor's program have in common.

use autonoe_core::Capabilities;
use autonoe_core::agent::Support;

/// The remedy for [`SessionField::Sandbox`] of a backend that has no sandbox of its own and can
/// bypass the gate: it must not run without a sandbox.
///
/// [`SessionField::Sandbox`]: autonoe_core::agent::SessionField::Sandbox
pub const OUTER_SANDBOX_REMEDY: &str =
    "run it in an outer sandbox, with OuterSandbox::bubblewrap()";

/// Returns the capabilities of a backend around the program of a vendor whose protocol has all of
/// these: sessions choose model, system prompt, thinking, turns and MCP servers, the agent calls our
/// tools in-process and can be steered, and the vendor reports when a spent quota resets. [`SandboxConfig`]
/// start the program in bubblewrap.
///
/// The backend adds what differs: hooks, its own sandbox, cost, tokens, project memory, resume and
/// events.
///
/// ```
/// use autonoe_backend::program_claims;
/// use autonoe_core::agent::{HookCoverage, SessionField};
///
/// let claims = program_claims("my-agent").with_hooks(HookCoverage::EveryTool);
///
/// assert!(claims.require([SessionField::Model, SessionField::McpServers]).is_ok());
/// assert!(claims.require([SessionField::Resume]).is_err());
/// ```
///
/// [`SandboxConfig`]: crate::SandboxConfig
pub fn program_claims(backend: impl Into<String>) -> Capabilities {
    Capabilities::new(backend)
        .with_outer_sandbox(Support::Yes)
        .with_quota_reset(Support::Yes)
        .with_model(Support::Yes)
        .with_system_prompt(Support::Yes)
        .with_thinking(Support::Yes)
        .with_max_turns(Support::Yes)
        .with_mcp_servers(Support::Yes)
        .with_in_process_tools(Support::Yes)
        .with_steering(Support::Yes)
}
