//! [`PendingCalls`] of a session, and detection of calls that ran without permission.

use std::collections::{HashMap, HashSet};

use autonoe_core::ToolCall;
use serde_json::Value;

use crate::wire::{Item, ItemStatus};

/// Calls that have started, and whether they were decided about.
#[derive(Debug, Default)]
pub(super) struct PendingCalls {
    started: HashMap<String, StartedCall>,
    order: u64,
}

#[derive(Debug)]
struct StartedCall {
    call: ToolCall,
    order: u64,
    is_decided: bool,
}

impl PendingCalls {
    /// Records the start of a call.
    ///
    /// An agent may use one id for two calls. If another call with this id is still running, a
    /// request is ambiguous, and neither call can be decided about.
    pub(super) fn start(&mut self, call: ToolCall) {
        self.order += 1;
        let is_other = |started: &StartedCall| {
            started.call.name != call.name || started.call.kind != call.kind
        };
        let is_ambiguous = self.started.get(&call.id).is_some_and(|started| {
            started.is_decided || is_other(started) || started.call.input != call.input
        });
        let started = StartedCall {
            order: self.order,
            is_decided: is_ambiguous,
            call,
        };
        self.started.insert(started.call.id.clone(), started);
    }

    /// Forgets a finished call.
    pub(super) fn end(&mut self, id: &str) {
        self.started.remove(id);
    }

    /// Forgets all calls.
    pub(super) fn clear(&mut self) {
        self.started.clear();
    }

    /// Returns the call `id` for a decision, once: a second request for the same call wants more
    /// than was allowed.
    pub(super) fn mark_decided(&mut self, id: &str) -> Option<ToolCall> {
        let started = self
            .started
            .get_mut(id)
            .filter(|started| !started.is_decided)?;
        started.is_decided = true;
        Some(started.call.clone())
    }

    /// Returns the call of a tool of `server` with `arguments` for a decision, once.
    ///
    /// A request for such a call does not name it. If several tools match, the result is `None`.
    pub(super) fn take_server_call(&mut self, server: &str, arguments: &Value) -> Option<ToolCall> {
        let prefix = format!("mcp__{server}__");
        let mut candidates: Vec<&StartedCall> = self
            .started
            .values()
            .filter(|started| !started.is_decided && started.call.name.starts_with(&prefix))
            .filter(|started| same_arguments(&started.call.input, arguments))
            .collect();
        candidates.sort_by_key(|started| started.order);
        let first = candidates.first()?;
        if candidates
            .iter()
            .any(|started| started.call.name != first.call.name)
        {
            return None;
        }
        let id = first.call.id.clone();
        self.mark_decided(&id)
    }
}

/// Returns whether two calls have the same arguments. Missing arguments equal an empty object.
fn same_arguments(one: &Value, other: &Value) -> bool {
    let is_empty =
        |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    one == other || (is_empty(one) && is_empty(other))
}

/// Item types of disabled tools, for which the program requests no permission.
const SWITCHED_OFF: &[&str] = &[
    "collabAgentToolCall",
    "imageGeneration",
    "imageView",
    "sleep",
    "subAgentActivity",
    "webSearch",
];

/// Built-in tools that read from MCP servers, for which the program requests no permission.
const READS_RESOURCES: &[&str] = &[
    "list_mcp_resource_templates",
    "list_mcp_resources",
    "read_mcp_resource",
];

/// Returns a description of the call of a finished item, if the call is not `allowed`.
///
/// The call has run already. But the permission settings of the session are not in force, so the
/// session must not continue.
pub(super) fn ungated_call(item: &Item, allowed: &HashSet<String>) -> Option<String> {
    let is_done = |status: ItemStatus| status == ItemStatus::Completed;
    match item {
        Item::Command(it) if it.exit_code.is_some() || is_done(it.status) => {
            (!allowed.contains(&it.id)).then(|| "a command".to_owned())
        }
        Item::FileChange(it) if is_done(it.status) => {
            (!allowed.contains(&it.id)).then(|| "a patch".to_owned())
        }
        // A call that ran into an error has failed with a result; a refused one has no result.
        Item::McpTool(it) if is_done(it.status) || it.result.is_some() => {
            let is_known_hole = READS_RESOURCES.contains(&it.tool.as_str());
            (!is_known_hole && !allowed.contains(&it.id))
                .then(|| format!("a call of the MCP server {}", it.server))
        }
        Item::Other(it) => switched_off(it),
        _ => None,
    }
}

fn switched_off(item: &Value) -> Option<String> {
    let kind = item["type"].as_str()?;
    let is_off = SWITCHED_OFF.contains(&kind);
    is_off.then(|| format!("a disabled tool ({kind})"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, name: &str, input: Value) -> ToolCall {
        ToolCall::new(name, input).with_id(id)
    }

    #[test]
    fn a_call_is_decided_about_once() {
        let mut calls = PendingCalls::default();
        calls.start(call("1", "Bash", json!({"command": "ls"})));

        assert!(calls.mark_decided("1").is_some());
        assert!(calls.mark_decided("1").is_none());
        assert!(calls.mark_decided("2").is_none());
    }

    #[test]
    fn two_calls_with_one_id_are_not_decided_about() {
        let mut calls = PendingCalls::default();
        calls.start(call(
            "1",
            "Edit",
            json!({"file_path": "/srv/project/fine.txt"}),
        ));
        calls.start(call("1", "Edit", json!({"file_path": "/etc/passwd"})));

        assert!(calls.mark_decided("1").is_none());

        calls.end("1");
        calls.start(call("1", "Edit", json!({"file_path": "/etc/passwd"})));
        let call = calls.mark_decided("1").expect("it is the only one");
        assert_eq!(call.input["file_path"], "/etc/passwd");
    }

    #[test]
    fn a_restarted_call_is_decided_only_once() {
        let mut calls = PendingCalls::default();
        let same_call = || call("1", "Bash", json!({"command": "ls"}));
        calls.start(same_call());
        calls.start(same_call());
        assert!(calls.mark_decided("1").is_some());

        calls.start(same_call());

        assert!(calls.mark_decided("1").is_none());
    }

    #[test]
    fn a_call_that_is_over_is_not_decided_about() {
        let mut calls = PendingCalls::default();
        calls.start(call("1", "Bash", json!({"command": "ls"})));

        calls.end("1");

        assert!(calls.mark_decided("1").is_none());
    }

    #[test]
    fn a_call_of_a_server_is_found_by_its_arguments() {
        let mut calls = PendingCalls::default();
        calls.start(call("1", "mcp__a__read", json!({"x": 1})));
        calls.start(call("2", "mcp__a__read", json!({"x": 2})));
        calls.start(call("3", "mcp__b__read", json!({"x": 2})));
        calls.start(call("4", "mcp__a__list", json!(null)));

        let mut take = |server, arguments| {
            let call = calls.take_server_call(server, &arguments);
            call.map(|call| call.id)
        };

        assert_eq!(take("a", json!({"x": 2})).as_deref(), Some("2"));
        assert_eq!(take("a", json!({"x": 2})), None);
        assert_eq!(take("a", json!({})).as_deref(), Some("4"));
        assert_eq!(take("c", json!({"x": 1})), None);
    }

    #[test]
    fn ambiguous_tools_are_not_decided_about() {
        let mut calls = PendingCalls::default();
        calls.start(call("1", "mcp__a__read", json!({})));
        calls.start(call("2", "mcp__a__remove_all", json!({})));

        assert!(calls.take_server_call("a", &json!({})).is_none());
    }

    #[test]
    fn only_allowed_calls_may_have_run() {
        let allowed = HashSet::from(["yes".to_owned()]);
        for (item, is_ungated) in [
            (
                json!({"type": "commandExecution", "id": "no", "status": "completed"}),
                true,
            ),
            (
                json!({"type": "commandExecution", "id": "no", "status": "failed", "exitCode": 1}),
                true,
            ),
            (
                json!({"type": "commandExecution", "id": "no", "status": "failed"}),
                false,
            ),
            (
                json!({"type": "commandExecution", "id": "no", "status": "declined"}),
                false,
            ),
            (
                json!({"type": "commandExecution", "id": "yes", "status": "completed"}),
                false,
            ),
            (
                json!({"type": "fileChange", "id": "no", "status": "completed"}),
                true,
            ),
            (
                json!({"type": "fileChange", "id": "no", "status": "failed"}),
                false,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "t", "status": "completed"}),
                true,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "t", "status": "failed",
                "result": {"content": []}, "error": null}),
                true,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "t", "status": "failed",
                "result": null, "error": {"message": "it was refused"}}),
                false,
            ),
            (
                json!({"type": "mcpToolCall", "id": "no", "tool": "read_mcp_resource", "status": "completed"}),
                false,
            ),
            (json!({"type": "webSearch", "id": "no"}), true),
            (json!({"type": "contextCompaction", "id": "no"}), false),
            (
                json!({"type": "dynamicToolCall", "id": "no", "status": "completed"}),
                false,
            ),
        ] {
            let found = ungated_call(&Item::parse(&item), &allowed);

            assert_eq!(found.is_some(), is_ungated, "{item} {found:?}");
        }
    }
}
