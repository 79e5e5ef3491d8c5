//! Tools, permissions, gate and MCP servers of a session.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::run_context::RunContext;
use super::runner::RunParts;
use super::session_task::{SessionResources, SessionTask};
use crate::agent::{HookCoverage, Support};
use crate::event::Failure;
use crate::gate::{Gate, Grants, ReadOnlyGuard};
use crate::ledger::{DELIVERABLE_TOOLS, deliverable_tools};
use crate::tool::{McpServer, Tool, ToolEffect, Toolbox};

/// Returns Autonoe's tools: the deliverable tools, those of the run and those of the session.
pub(super) fn toolbox(
    parts: &RunParts,
    resources: SessionResources<'_>,
    task: &SessionTask<'_>,
) -> Result<Toolbox, Failure> {
    let mut tools = match (resources.store, task.ledger_tools) {
        (Some(store), Some(instruction)) => deliverable_tools(store, instruction),
        _ => Vec::new(),
    };
    tools.extend(parts.settings.tools.iter().cloned());
    if is_read_only(task) {
        tools.retain(|tool| tool.definition().effect == ToolEffect::ReadOnly);
    }
    if let Some(name) =
        duplicate_tool_name(parts.settings.tools.iter().chain(&task.overrides.tools))
    {
        let message = format!("the tool name {name:?} is taken");
        return Err(Failure::permanent("tool_name_taken", message));
    }
    tools.extend(task.overrides.tools.iter().cloned());
    Ok(Toolbox::new(tools))
}

/// Returns the gate: all guards and hooks of the run, with the grants of the session.
pub(super) fn gate(
    parts: &RunParts,
    resources: SessionResources<'_>,
    task: &SessionTask<'_>,
    tools: &Toolbox,
) -> Result<Gate, Failure> {
    let grants = match &task.overrides.access {
        SessionAccess::Default => &parts.grants,
        SessionAccess::Only(grants) | SessionAccess::ReadOnly(grants) => grants,
    };
    let gate = Gate::new(
        parts.settings.project_paths.clone(),
        grants.clone().with_toolbox(tools),
    )
    .with_time_limit(parts.settings.hook_time_limit)
    .map_err(|error| Failure::from(&error))?;
    let mut gate = parts.guards.iter().cloned().fold(gate, Gate::with_guard);
    if is_read_only(task) {
        if resources.capabilities.hooks != HookCoverage::EveryTool {
            let backend = &resources.capabilities.backend;
            let message = format!(
                "{backend} can bypass the gate, so a read-only session could still change \
                 files; use another backend"
            );
            return Err(Failure::permanent("guards_not_enforced", message));
        }
        gate = gate.with_guard(Arc::new(ReadOnlyGuard));
    }
    Ok(parts
        .settings
        .hooks
        .iter()
        .cloned()
        .fold(gate, Gate::with_hook))
}

/// Returns the third-party MCP servers, without optional ones that failed before or that the
/// backend does not support. A read-only session gets none, because the effect of their tools is
/// unknown.
pub(super) fn mcp_servers(
    context: &RunContext,
    resources: SessionResources<'_>,
    task: &SessionTask<'_>,
) -> BTreeMap<String, McpServer> {
    if is_read_only(task) {
        return BTreeMap::new();
    }
    let optional = &context.optional_servers;
    let mut servers = context.parts.settings.mcp_servers.clone();
    if resources.capabilities.mcp_servers != Support::Yes {
        let backend = &resources.capabilities.backend;
        for name in servers.keys().filter(|name| optional.contains(name)) {
            if optional.fail(name) {
                context.warn(&format!(
                    "sessions start without the MCP server {name:?}: {backend} does not support \
                     MCP servers"
                ));
            }
        }
    }
    servers.retain(|name, _| !optional.has_failed(name));
    servers
}

fn is_read_only(task: &SessionTask<'_>) -> bool {
    matches!(task.overrides.access, SessionAccess::ReadOnly(_))
}

/// Returns the first tool name that a deliverable tool or another tool already has.
pub(super) fn duplicate_tool_name<'a>(
    tools: impl IntoIterator<Item = &'a Arc<dyn Tool>>,
) -> Option<String> {
    let mut used_names: HashSet<&str> = DELIVERABLE_TOOLS.into_iter().collect();
    let names = tools
        .into_iter()
        .map(|tool| tool.definition().name.as_str());
    names
        .into_iter()
        .find(|name| !used_names.insert(name))
        .map(str::to_owned)
}

/// The permissions of an agent in one session. Guards and hooks judge every call in any case.
///
/// ```
/// use autonoe_core::gate::Grants;
/// use autonoe_core::run::SessionAccess;
///
/// // Only what is allowed by name, and edits inside the project.
/// let editing = Grants::none()
///     .with_tool("Grep")
///     .with_rule("Edit(./**)".parse()?)
///     .with_rule("Write(./**)".parse()?);
/// let worker = SessionAccess::Only(editing);
///
/// // It reads everything that guards let it read, and changes nothing.
/// let judge = SessionAccess::read_only();
/// # drop((worker, judge));
/// # Ok::<(), autonoe_core::gate::InvalidRule>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionAccess {
    /// The grants of the builder: the baseline of its mode and its rules.
    #[default]
    Default,
    /// These grants instead of the builder's. Autonoe's own tools are granted, too.
    Only(Grants),
    /// The read-only part of these grants: reads, fetches, and the tools of the order. Everything
    /// else is blocked before any hook runs, even if it is granted by name. Third-party MCP servers
    /// and the run's own tools with side effects are left out.
    ///
    /// The session fails on a backend that can bypass the gate, because nothing would enforce it.
    ReadOnly(Grants),
}

impl SessionAccess {
    /// Lets an agent read everything that the guards allow, and change nothing.
    pub fn read_only() -> Self {
        const READS: [&str; 5] = [
            "Read(./**)",
            "Glob(./**)",
            "Grep(./**)",
            "Read(/**)",
            "TodoWrite",
        ];
        Self::ReadOnly(READS.into_iter().fold(Grants::none(), Grants::with_tool))
    }
}
