//! [`Host`]: the state of the host, as the program knows it.

use std::collections::{HashMap, VecDeque};

use serde_json::Value;

/// State of the host.
#[derive(Debug, Default)]
pub(super) struct Host {
    /// Hooks that the host registered for `PreToolUse`.
    pub(super) hooks: Vec<Hook>,
    /// MCP servers of the host.
    pub(super) servers: Vec<String>,
    /// Tools of these servers, under the names that agents use.
    pub(super) tools: Vec<String>,
    /// Pending prompts.
    pub(super) prompts: usize,
    /// Requests that are answered later: id and body.
    pub(super) requests: VecDeque<(String, Value)>,
    /// Answers of the host, by the ids of the requests.
    pub(super) answers: HashMap<String, Value>,
    /// Whether the host closed the input.
    pub(super) is_closed: bool,
}

/// A hook of the host.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) callback: String,
    matcher: Option<String>,
}

impl Host {
    /// Reads the `initialize` request. The arguments name the other servers.
    pub(super) fn initialize(&mut self, request: &Value, servers: &[String]) {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);

        let mut hooks = Vec::new();
        for entry in list(&request["hooks"]["PreToolUse"]) {
            for callback in list(&entry["hookCallbackIds"]) {
                hooks.push(Hook {
                    callback: text(&callback).unwrap_or_default(),
                    matcher: text(&entry["matcher"]),
                });
            }
        }
        self.hooks = hooks;
        self.servers = list(&request["sdkMcpServers"])
            .iter()
            .filter_map(text)
            .chain(servers.iter().cloned())
            .collect();
    }

    /// Adds the tools that a server lists.
    pub(super) fn add_tools(&mut self, server: &str, tools: &Value) {
        for tool in tools.as_array().into_iter().flatten() {
            let name = tool["name"].as_str().unwrap_or_default();
            let name = format!("mcp__{server}__{name}");
            if !self.tools.contains(&name) {
                self.tools.push(name);
            }
        }
    }

    /// Removes and returns the first request of this kind.
    pub(super) fn take_request(&mut self, subtype: &str) -> Option<(String, Value)> {
        let mut requests = self.requests.iter();
        let at = requests.position(|(_, request)| request["subtype"] == subtype)?;
        self.requests.remove(at)
    }
}

impl Hook {
    /// Returns whether the hook applies to a tool.
    ///
    /// A matcher is a name, a list of names, or a prefix followed by `.*`; other patterns match
    /// nothing here.
    pub(super) fn matches(&self, tool: &str) -> bool {
        let Some(matcher) = self.matcher.as_deref() else {
            return true;
        };
        matches!(matcher, "" | "*" | ".*")
            || matcher.split('|').any(|part| {
                let prefix = part.strip_suffix(".*");
                part == tool || prefix.is_some_and(|prefix| tool.starts_with(prefix))
            })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matchers_are_anchored() {
        for (matcher, tool, expected) in [
            (json!(null), "Bash", true),
            (json!(""), "Bash", true),
            (json!("*"), "Bash", true),
            (json!("Bash|Write"), "Write", true),
            (json!("ash"), "Bash", false),
            (json!("mcp__autonoe__.*"), "mcp__autonoe__list", true),
            (json!("mcp__autonoe__.*"), "mcp__other__list", false),
        ] {
            let mut host = Host::default();
            let matchers = json!([{"matcher": matcher, "hookCallbackIds": ["a"]}]);

            host.initialize(&json!({"hooks": {"PreToolUse": matchers}}), &[]);

            assert_eq!(host.hooks[0].matches(tool), expected, "{matcher} {tool}");
        }
    }
}
