//! What is known of the host.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use serde_json::Value;

/// How long an answer of a hook may take when the host does not say.
const HOOK_TIMEOUT: u64 = 600;

/// What is known of the host.
#[derive(Debug, Default)]
pub(super) struct Host {
    pub(super) hooks: Vec<Hook>,
    /// MCP servers of the host.
    pub(super) servers: Vec<String>,
    /// Tools of these servers, by the names that agents know.
    pub(super) tools: Vec<String>,
    /// Those of them that only read.
    pub(super) read_only: HashSet<String>,
    /// Servers whose greeting failed.
    pub(super) failed: HashSet<String>,
    /// Prompts for which there was no turn yet.
    pub(super) prompts: usize,
    /// Requests that are answered later: id and body.
    pub(super) requests: VecDeque<(String, Value)>,
    /// What it answered, by the ids of the questions.
    pub(super) answers: HashMap<String, Value>,
    /// It closed the input.
    pub(super) is_gone: bool,
}

/// A hook that the host wants to be asked.
#[derive(Debug)]
pub(super) struct Hook {
    pub(super) callback: String,
    matcher: Option<String>,
    pub(super) timeout: Duration,
    /// Whether a failure is to block. Older builds do not know that.
    pub(super) failure_blocks: bool,
}

impl Host {
    /// Takes over what the host says at the start.
    pub(super) fn introduce(&mut self, request: &Value, named: &[String]) {
        let matchers = request["hooks"]["PreToolUse"].as_array();
        self.hooks = matchers
            .into_iter()
            .flatten()
            .flat_map(|matcher| {
                let callbacks = matcher["hookCallbackIds"].as_array();
                callbacks
                    .into_iter()
                    .flatten()
                    .map(|callback| Hook {
                        callback: callback.as_str().unwrap_or_default().to_owned(),
                        matcher: matcher["matcher"].as_str().map(str::to_owned),
                        timeout: Duration::from_secs(
                            matcher["timeout"].as_u64().unwrap_or(HOOK_TIMEOUT),
                        ),
                        failure_blocks: matcher["onFailure"] == "block",
                    })
                    .collect::<Vec<_>>()
            })
            .collect();
        let told = request["sdkMcpServers"].as_array().into_iter().flatten();
        self.servers = told
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .chain(named.iter().cloned())
            .collect();
    }

    /// Takes over the tools that a server lists.
    pub(super) fn learn(&mut self, server: &str, tools: &Value) {
        for tool in tools.as_array().into_iter().flatten() {
            let name = format!(
                "mcp__{server}__{}",
                tool["name"].as_str().unwrap_or_default()
            );
            if tool["annotations"]["readOnlyHint"] == true {
                self.read_only.insert(name.clone());
            }
            if !self.tools.contains(&name) {
                self.tools.push(name);
            }
        }
    }

    /// Takes the first request of this kind.
    pub(super) fn take_request(&mut self, subtype: &str) -> Option<(String, Value)> {
        let mut requests = self.requests.iter();
        let at = requests.position(|(_, request)| request["subtype"] == subtype)?;
        self.requests.remove(at)
    }
}

impl Hook {
    /// Tells whether the hook wants to be asked about a tool.
    ///
    /// A matcher is a name, a list of names, or a prefix with `.*` behind it; other patterns
    /// match nothing here.
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

            host.introduce(&json!({"hooks": {"PreToolUse": matchers}}), &[]);

            assert_eq!(host.hooks[0].matches(tool), expected, "{matcher} {tool}");
        }
    }
}
