//! [`Request`]s of the host to the program.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::OutgoingLine;
use crate::ClaudePermissionMode;

/// A request of the host to the program.
///
/// ```
/// use autonoe_claude::wire::Request;
/// use serde_json::{Value, json};
///
/// let line = Request::Interrupt.to_line("req_1");
///
/// let sent: Value = serde_json::from_slice(line.as_bytes())?;
/// assert_eq!(sent, json!({
///     "type": "control_request",
///     "request_id": "req_1",
///     "request": {"subtype": "interrupt"},
/// }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Request {
    /// Initializes the session, with our hooks and servers.
    Initialize(Initialize),
    /// Stops the turn. The program keeps running.
    Interrupt,
    /// Ends the session: running work is stopped, and the program exits.
    EndSession,
    /// Changes the model.
    SetModel {
        /// The model.
        model: String,
    },
    /// Changes the permission mode.
    SetPermissionMode {
        /// The mode.
        mode: ClaudePermissionMode,
    },
    /// Changes the thinking budget.
    SetMaxThinkingTokens {
        /// The tokens; 0 for none.
        tokens: u32,
    },
    /// Queries the status of the MCP servers.
    McpStatus,
    /// Queries the settings in force.
    GetSettings,
    /// Queries the usage of the context window.
    GetContextUsage,
    /// Queries the cost of the session.
    GetSessionCost,
    /// Queries the version of the program.
    GetBinaryVersion,
}

impl Request {
    /// Builds the line of the request. The id must be unique.
    pub fn to_line(&self, request_id: &str) -> OutgoingLine {
        OutgoingLine::from_value(&json!({
            "type": "control_request",
            "request_id": request_id,
            "request": self.body(),
        }))
    }

    fn body(&self) -> Value {
        match self {
            Self::Initialize(initialize) => initialize.body(),
            Self::Interrupt => json!({"subtype": "interrupt"}),
            Self::EndSession => json!({"subtype": "end_session"}),
            Self::SetModel { model } => json!({"subtype": "set_model", "model": model}),
            Self::SetPermissionMode { mode } => {
                json!({"subtype": "set_permission_mode", "mode": mode.as_str()})
            }
            Self::SetMaxThinkingTokens { tokens } => {
                json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens})
            }
            Self::McpStatus => json!({"subtype": "mcp_status"}),
            Self::GetSettings => json!({"subtype": "get_settings"}),
            Self::GetContextUsage => json!({"subtype": "get_context_usage"}),
            Self::GetSessionCost => json!({"subtype": "get_session_cost"}),
            Self::GetBinaryVersion => json!({"subtype": "get_binary_version"}),
        }
    }
}

/// The parameters of the first request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Initialize {
    /// Hooks by their event, for example `PreToolUse`.
    pub hooks: BTreeMap<String, Vec<HookMatcher>>,
    /// Our MCP servers, which are served over the control protocol.
    pub sdk_mcp_servers: Vec<String>,
    /// Text that is appended to the program's own system prompt.
    pub append_system_prompt: Option<String>,
}

impl Initialize {
    fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("subtype".into(), "initialize".into());
        let hooks = if self.hooks.is_empty() {
            Value::Null
        } else {
            let hooks_of_event = |(event, matchers): (&String, &Vec<HookMatcher>)| {
                let matchers: Value = matchers.iter().map(HookMatcher::body).collect();
                (event.clone(), matchers)
            };
            self.hooks.iter().map(hooks_of_event).collect()
        };
        body.insert("hooks".into(), hooks);
        if !self.sdk_mcp_servers.is_empty() {
            body.insert("sdkMcpServers".into(), json!(self.sdk_mcp_servers));
        }
        if let Some(text) = &self.append_system_prompt {
            body.insert("appendSystemPrompt".into(), json!(text));
        }
        Value::Object(body)
    }
}

/// The calls that a hook receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookMatcher {
    /// The tools, as a name, a list (`Bash|Write`) or a pattern; `None` for all.
    pub matcher: Option<String>,
    /// The ids in the hook requests.
    pub callback_ids: Vec<String>,
    /// Time limit of an answer in seconds. After it, the call is blocked.
    pub timeout_seconds: u32,
    /// The effect of a failed answer, for builds that support the choice.
    pub on_failure: OnHookFailure,
}

impl HookMatcher {
    /// Creates a matcher of every call, whose failures block.
    pub fn every_call(callback_id: impl Into<String>, timeout_seconds: u32) -> Self {
        Self {
            matcher: None,
            callback_ids: vec![callback_id.into()],
            timeout_seconds,
            on_failure: OnHookFailure::Block,
        }
    }

    fn body(&self) -> Value {
        let mut body = Map::new();
        body.insert("matcher".into(), json!(self.matcher));
        body.insert("hookCallbackIds".into(), json!(self.callback_ids));
        body.insert("timeout".into(), json!(self.timeout_seconds));
        if self.on_failure == OnHookFailure::Block {
            body.insert("onFailure".into(), "block".into());
        }
        Value::Object(body)
    }
}

/// The effect of a failed answer of a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnHookFailure {
    /// The call is blocked. Older builds ignore this value and run the call.
    Block,
    /// The program decides as without a hook. For hooks that only observe.
    Ignore,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(request: &Request) -> Value {
        serde_json::from_slice(request.to_line("req_1").as_bytes()).expect("JSON")
    }

    #[test]
    fn initialize_has_the_recorded_format() {
        let initialize = Initialize {
            hooks: BTreeMap::from([(
                "PreToolUse".into(),
                vec![HookMatcher::every_call("gate", 30)],
            )]),
            sdk_mcp_servers: vec!["autonoe".into()],
            append_system_prompt: None,
        };

        assert_eq!(
            sent(&Request::Initialize(initialize)),
            json!({"type": "control_request", "request_id": "req_1", "request": {
                "subtype": "initialize",
                "hooks": {"PreToolUse": [{
                    "matcher": null, "hookCallbackIds": ["gate"], "timeout": 30, "onFailure": "block"
                }]},
                "sdkMcpServers": ["autonoe"],
            }})
        );
        assert_eq!(
            sent(&Request::Initialize(Initialize::default()))["request"],
            json!({"subtype": "initialize", "hooks": null})
        );
    }

    #[test]
    fn other_requests_have_the_recorded_formats() {
        for (request, expected) in [
            (Request::EndSession, json!({"subtype": "end_session"})),
            (
                Request::SetModel {
                    model: "claude-sonnet-4-5".into(),
                },
                json!({"subtype": "set_model", "model": "claude-sonnet-4-5"}),
            ),
            (
                Request::SetPermissionMode {
                    mode: ClaudePermissionMode::Plan,
                },
                json!({"subtype": "set_permission_mode", "mode": "plan"}),
            ),
            (
                Request::SetMaxThinkingTokens { tokens: 2048 },
                json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 2048}),
            ),
            (Request::McpStatus, json!({"subtype": "mcp_status"})),
            (Request::GetSettings, json!({"subtype": "get_settings"})),
            (
                Request::GetContextUsage,
                json!({"subtype": "get_context_usage"}),
            ),
            (
                Request::GetSessionCost,
                json!({"subtype": "get_session_cost"}),
            ),
            (
                Request::GetBinaryVersion,
                json!({"subtype": "get_binary_version"}),
            ),
        ] {
            assert_eq!(sent(&request)["request"], expected);
        }
    }
}
