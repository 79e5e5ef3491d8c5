//! Calls that began, and whether they were decided about.

use std::collections::HashMap;

use autonoe_core::ToolCall;
use serde_json::Value;

/// Calls that began, and whether they were decided about.
#[derive(Debug, Default)]
pub(super) struct Calls {
    begun: HashMap<String, Begun>,
    order: u64,
}

#[derive(Debug)]
struct Begun {
    call: ToolCall,
    order: u64,
    is_decided: bool,
}

impl Calls {
    /// Takes note of a call that begins.
    ///
    /// An agent may give two calls one id. If another one with it is not over, nobody can tell
    /// which is asked about, and neither is decided about.
    pub(super) fn begin(&mut self, call: ToolCall) {
        self.order += 1;
        let is_other = |begun: &Begun| begun.call.name != call.name || begun.call.kind != call.kind;
        let is_ambiguous = self.begun.get(&call.id).is_some_and(|begun| {
            begun.is_decided || is_other(begun) || begun.call.input != call.input
        });
        let begun = Begun {
            order: self.order,
            is_decided: is_ambiguous,
            call,
        };
        self.begun.insert(begun.call.id.clone(), begun);
    }

    /// Forgets a call that is over.
    pub(super) fn end(&mut self, id: &str) {
        self.begun.remove(id);
    }

    /// Forgets all calls.
    pub(super) fn clear(&mut self) {
        self.begun.clear();
    }

    /// Hands out the call `id` to be decided about, once: whoever asks about it again wants more
    /// than was allowed.
    pub(super) fn take(&mut self, id: &str) -> Option<ToolCall> {
        let begun = self.begun.get_mut(id).filter(|begun| !begun.is_decided)?;
        begun.is_decided = true;
        Some(begun.call.clone())
    }

    /// Hands out the call of a tool of `server` with `arguments` to be decided about, once.
    ///
    /// A question about such a call does not name it. If several tools could be meant, none is.
    pub(super) fn take_of_server(&mut self, server: &str, arguments: &Value) -> Option<ToolCall> {
        let prefix = format!("mcp__{server}__");
        let mut meant: Vec<&Begun> = self
            .begun
            .values()
            .filter(|begun| !begun.is_decided && begun.call.name.starts_with(&prefix))
            .filter(|begun| same(&begun.call.input, arguments))
            .collect();
        meant.sort_by_key(|begun| begun.order);
        let first = meant.first()?;
        if meant.iter().any(|begun| begun.call.name != first.call.name) {
            return None;
        }
        let id = first.call.id.clone();
        self.take(&id)
    }
}

/// Tells whether two calls have the same arguments; none are the same as no members.
fn same(one: &Value, other: &Value) -> bool {
    let is_empty =
        |value: &Value| value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty);
    one == other || (is_empty(one) && is_empty(other))
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
        let mut calls = Calls::default();
        calls.begin(call("1", "Bash", json!({"command": "ls"})));

        assert!(calls.take("1").is_some());
        assert!(calls.take("1").is_none());
        assert!(calls.take("2").is_none());
    }

    #[test]
    fn of_two_calls_with_one_id_neither_is_decided_about() {
        let mut calls = Calls::default();
        calls.begin(call(
            "1",
            "Edit",
            json!({"file_path": "/srv/project/fine.txt"}),
        ));
        calls.begin(call("1", "Edit", json!({"file_path": "/etc/passwd"})));

        assert!(calls.take("1").is_none());

        calls.end("1");
        calls.begin(call("1", "Edit", json!({"file_path": "/etc/passwd"})));
        let taken = calls.take("1").expect("it is the only one");
        assert_eq!(taken.input["file_path"], "/etc/passwd");
    }

    #[test]
    fn a_call_that_begins_anew_is_not_decided_about_again() {
        let mut calls = Calls::default();
        let same = || call("1", "Bash", json!({"command": "ls"}));
        calls.begin(same());
        calls.begin(same());
        assert!(calls.take("1").is_some());

        calls.begin(same());

        assert!(calls.take("1").is_none());
    }

    #[test]
    fn a_call_that_is_over_is_not_decided_about() {
        let mut calls = Calls::default();
        calls.begin(call("1", "Bash", json!({"command": "ls"})));

        calls.end("1");

        assert!(calls.take("1").is_none());
    }

    #[test]
    fn a_call_of_a_server_is_found_by_what_it_is_called_with() {
        let mut calls = Calls::default();
        calls.begin(call("1", "mcp__a__read", json!({"x": 1})));
        calls.begin(call("2", "mcp__a__read", json!({"x": 2})));
        calls.begin(call("3", "mcp__b__read", json!({"x": 2})));
        calls.begin(call("4", "mcp__a__list", json!(null)));

        let mut take = |server, arguments| {
            let call = calls.take_of_server(server, &arguments);
            call.map(|call| call.id)
        };

        assert_eq!(take("a", json!({"x": 2})).as_deref(), Some("2"));
        assert_eq!(take("a", json!({"x": 2})), None);
        assert_eq!(take("a", json!({})).as_deref(), Some("4"));
        assert_eq!(take("c", json!({"x": 1})), None);
    }

    #[test]
    fn of_two_tools_that_could_be_meant_neither_is() {
        let mut calls = Calls::default();
        calls.begin(call("1", "mcp__a__read", json!({})));
        calls.begin(call("2", "mcp__a__remove_all", json!({})));

        assert!(calls.take_of_server("a", &json!({})).is_none());
    }
}
