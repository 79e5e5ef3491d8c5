//! The tools of a session, and what it may do with them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::SessionAccess;
use super::runner::Parts;
use super::setting::Setting;
use super::task::{Stand, Task};
use crate::domain::Failure;
use crate::guard::ReadOnlyGuard;
use crate::port::{Gate, HookCoverage, McpServer, Support, Tool, ToolEffect, Toolbox};
use crate::tools::{DELIVERABLE_TOOLS, deliverable_tools};

/// Returns our tools: those over the ledger, those of the run, those of the session.
pub(super) fn toolbox(
    parts: &Parts,
    stand: Stand<'_>,
    task: &Task<'_>,
) -> Result<Toolbox, Failure> {
    let mut tools = match (stand.book, task.ledger_tools) {
        (Some(book), Some(instruction)) => deliverable_tools(book, instruction),
        _ => Vec::new(),
    };
    tools.extend(parts.tools.iter().cloned());
    if is_read_only(task) {
        tools.retain(|tool| tool.definition().effect == ToolEffect::ReadOnly);
    }
    if let Some(name) = taken_name(parts.tools.iter().chain(&task.extras.tools)) {
        let message = format!("the tool name {name:?} is taken");
        return Err(Failure::permanent("tool_name_taken", message));
    }
    tools.extend(task.extras.tools.iter().cloned());
    Ok(Toolbox::new(tools))
}

/// Returns the gate: every guard and hook of the run, and the grants of the session.
pub(super) fn gate(
    parts: &Parts,
    stand: Stand<'_>,
    task: &Task<'_>,
    tools: &Toolbox,
) -> Result<Gate, Failure> {
    let grants = match &task.extras.access {
        SessionAccess::Usual => &parts.grants,
        SessionAccess::Only(grants) | SessionAccess::ReadOnly(grants) => grants,
    };
    let gate = Gate::new(
        parts.project_paths.clone(),
        tools.granted_in(grants.clone()),
    )
    .with_time_limit(parts.hook_time_limit)
    .map_err(|error| Failure::from(&error))?;
    let mut gate = parts.guards.iter().cloned().fold(gate, Gate::with_guard);
    if is_read_only(task) {
        if stand.capabilities.hooks != HookCoverage::EveryTool {
            let backend = &stand.capabilities.backend;
            let message = format!(
                "{backend} does not ask about every tool call, so nothing keeps the session from \
                 changing something"
            );
            return Err(Failure::permanent("guards_not_enforced", message));
        }
        gate = gate.with_guard(Arc::new(ReadOnlyGuard));
    }
    Ok(parts.hooks.iter().cloned().fold(gate, Gate::with_hook))
}

/// Returns the MCP servers of others, without optional ones that failed before or that the backend
/// does not support. A session that only reads gets none, because the effect of their tools is
/// unknown.
pub(super) fn mcp_servers(
    setting: &Setting,
    stand: Stand<'_>,
    task: &Task<'_>,
) -> BTreeMap<String, McpServer> {
    if is_read_only(task) {
        return BTreeMap::new();
    }
    let optional = &setting.optional_servers;
    let mut servers = setting.parts.mcp_servers.clone();
    if stand.capabilities.mcp_servers != Support::Yes {
        let backend = &stand.capabilities.backend;
        for name in servers.keys().filter(|name| optional.contains(name)) {
            if optional.fail(name) {
                setting.warn(&format!(
                    "agents work without the MCP server {name:?}: {backend} does not support MCP servers"
                ));
            }
        }
    }
    servers.retain(|name, _| !optional.has_failed(name));
    servers
}

fn is_read_only(task: &Task<'_>) -> bool {
    matches!(task.extras.access, SessionAccess::ReadOnly(_))
}

/// Returns the name of a tool that is taken, by a deliverable tool or by another one.
pub(super) fn taken_name<'a>(tools: impl IntoIterator<Item = &'a Arc<dyn Tool>>) -> Option<String> {
    let mut taken: HashSet<&str> = DELIVERABLE_TOOLS.into_iter().collect();
    let names = tools
        .into_iter()
        .map(|tool| tool.definition().name.as_str());
    names
        .into_iter()
        .find(|name| !taken.insert(name))
        .map(str::to_owned)
}
