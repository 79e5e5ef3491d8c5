//! Control protocol between program and host.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

use super::Json;
use super::lenient::{field, lenient_object};

/// A request of the program. Every one must be answered, by its id.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlRequest<'a> {
    /// The id that the answer must name.
    pub request_id: Cow<'a, str>,
    /// The content of the request.
    pub content: RequestContent<'a>,
}

/// The content of a request of the program.
#[derive(Clone, Debug, PartialEq)]
pub enum RequestContent<'a> {
    /// A call of a hook.
    Hook(HookCallback<'a>),
    /// A permission request for a tool, which the program's own rules did not decide.
    CanUseTool,
    /// A message for one of our MCP servers.
    Mcp(McpMessage<'a>),
    /// Any other request, or one of the above that cannot be parsed.
    Unknown {
        /// The subtype that it names.
        subtype: Option<Cow<'a, str>>,
    },
}

/// A call of a hook.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HookCallback<'a> {
    /// The input of the hook.
    #[serde(borrow, deserialize_with = "field")]
    pub input: Option<HookInput<'a>>,
}

/// The input of a hook.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HookInput<'a> {
    /// The working directory of the agent.
    #[serde(borrow, deserialize_with = "field")]
    pub cwd: Option<Cow<'a, str>>,
    /// The tool.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_name: Option<Cow<'a, str>>,
    /// The input of the tool.
    #[serde(borrow)]
    pub tool_input: Option<Json<'a>>,
    /// The call.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_use_id: Option<Cow<'a, str>>,
    /// The sub-agent that calls; `None` for the main agent.
    #[serde(borrow, deserialize_with = "field")]
    pub agent_id: Option<Cow<'a, str>>,
    /// The kind of that sub-agent.
    #[serde(borrow, deserialize_with = "field")]
    pub agent_type: Option<Cow<'a, str>>,
}

lenient_object!(HookInput<'de>);

/// A message for one of our MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct McpMessage<'a> {
    /// The server.
    #[serde(borrow, deserialize_with = "field")]
    pub server_name: Option<Cow<'a, str>>,
    /// The JSON-RPC message.
    ///
    /// Its id must not be used to match answers: one build uses the same ids twice at a time. Use
    /// the id of the control request.
    #[serde(borrow)]
    pub message: Option<Json<'a>>,
}

/// A request of which only the id is parsed.
#[derive(Deserialize)]
pub(super) struct RawRequest<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow, default)]
    request: Option<Json<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Subtype<'a> {
    #[serde(borrow, deserialize_with = "field")]
    subtype: Option<Cow<'a, str>>,
}

impl<'a> RawRequest<'a> {
    fn subtype(&self) -> Option<Cow<'a, str>> {
        self.request?.view::<Subtype<'_>>().ok()?.subtype
    }

    /// Converts to an unknown request, so that it can at least be answered.
    pub(super) fn unknown(self) -> ControlRequest<'a> {
        ControlRequest {
            content: RequestContent::Unknown {
                subtype: self.subtype(),
            },
            request_id: self.request_id,
        }
    }
}

impl<'de> Deserialize<'de> for ControlRequest<'de> {
    /// Fails for a known request that cannot be parsed.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawRequest::deserialize(deserializer)?;
        let content = match (raw.subtype().as_deref(), raw.request) {
            (Some("hook_callback"), Some(request)) => request.view().map(RequestContent::Hook),
            (Some("can_use_tool"), Some(_)) => Ok(RequestContent::CanUseTool),
            (Some("mcp_message"), Some(request)) => request.view().map(RequestContent::Mcp),
            _ => return Ok(raw.unknown()),
        };
        Ok(Self {
            request_id: raw.request_id,
            content: content.map_err(Error::custom)?,
        })
    }
}

/// The answer to a request of the host.
#[derive(Clone, Debug, PartialEq)]
pub struct ControlResponse<'a> {
    /// The id of the request.
    pub request_id: Cow<'a, str>,
    /// The answer. A success may have none; a failure has a message.
    pub answer: Result<Option<Json<'a>>, Cow<'a, str>>,
}

#[derive(Deserialize)]
struct RawResponse<'a> {
    #[serde(borrow)]
    response: RawAnswer<'a>,
}

#[derive(Deserialize)]
struct RawAnswer<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow, default, deserialize_with = "field")]
    subtype: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    response: Option<Json<'a>>,
    #[serde(borrow, default, deserialize_with = "field")]
    error: Option<Cow<'a, str>>,
}

impl<'de> Deserialize<'de> for ControlResponse<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let RawAnswer {
            request_id,
            subtype,
            response,
            error,
        } = RawResponse::deserialize(deserializer)?.response;
        let answer = match subtype.as_deref() {
            Some("success") => Ok(response),
            _ => Err(error.unwrap_or(Cow::Borrowed("the program gave no reason"))),
        };
        Ok(Self { request_id, answer })
    }
}

impl ControlResponse<'_> {
    /// Returns the answer as a value; `None` for a failure and for a success without one.
    pub fn value(&self) -> Option<Value> {
        self.answer.as_ref().ok().copied().flatten()?.value()
    }
}

/// The program has withdrawn a request: stop, and send no answer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ControlCancel<'a> {
    /// The id of the request.
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(line: &str) -> RequestContent<'_> {
        let request: ControlRequest<'_> = serde_json::from_str(line).expect(line);
        assert_eq!(request.request_id, "1", "{line}");
        request.content
    }

    #[test]
    fn a_request_is_parsed_by_its_subtype_wherever_that_is() {
        for line in [
            r#"{"type":"control_request","request_id":"1","request":{"subtype":"hook_callback","input":{"tool_name":"Bash"}}}"#,
            r#"{"request":{"subtype":"hook_callback","input":{"tool_name":"Bash"}},"request_id":"1"}"#,
            r#"{"request_id":"1","request":{"input":{"tool_name":"Bash"},"subtype":"hook_callback"}}"#,
            r#"{"request_id":"1","request":{"subtype":"hook\u005fcallback","input":{"tool_name":"Bash"}}}"#,
            r#"{"request_id":"1","request":{"sub\u0074ype":"hook_callback","input":{"tool_name":"Bash"}}}"#,
        ] {
            let input = HookInput {
                tool_name: Some("Bash".into()),
                ..HookInput::default()
            };
            let hook = HookCallback { input: Some(input) };
            assert_eq!(content(line), RequestContent::Hook(hook), "{line}");
        }
        let line = r#"{"request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash"}}"#;
        assert_eq!(content(line), RequestContent::CanUseTool);
        let line =
            r#"{"request_id":"1","request":{"subtype":"mcp_message","server_name":"autonoe"}}"#;
        assert!(matches!(content(line), RequestContent::Mcp(_)), "{line}");
    }

    #[test]
    fn an_unusual_request_is_unknown() {
        for (line, subtype) in [
            (
                r#"{"request_id":"1","request":{"subtype":"elicitation"}}"#,
                Some("elicitation"),
            ),
            (r#"{"request_id":"1","request":{"subtype":7}}"#, None),
            (r#"{"request_id":"1","request":{}}"#, None),
            (r#"{"request_id":"1","request":null}"#, None),
            (r#"{"request_id":"1"}"#, None),
        ] {
            let subtype = subtype.map(Into::into);
            assert_eq!(content(line), RequestContent::Unknown { subtype }, "{line}");
        }
    }
}
