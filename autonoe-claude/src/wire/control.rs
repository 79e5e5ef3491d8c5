//! Control protocol between program and host.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::Json;
use super::lenient::{field, lenient_object};
use super::type_scan::find_string;

/// A request of the program. Every one must be answered, by its id.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ControlRequest<'a> {
    /// The id that the answer must name.
    pub request_id: Cow<'a, str>,
    /// The content of the request.
    pub content: RequestContent<'a>,
}

/// The content of a request of the program.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RequestContent<'a> {
    /// A call of a hook.
    Hook(HookCallback<'a>),
    /// A permission request for a tool, which the program's own rules did not decide.
    CanUseTool(CanUseTool<'a>),
    /// A message for one of our MCP servers.
    Mcp(McpMessage<'a>),
    /// Any other request, or one of the above that cannot be parsed.
    Unknown {
        /// The subtype that it names.
        subtype: Option<Cow<'a, str>>,
        /// The whole request.
        request: Option<Json<'a>>,
    },
}

/// A call of a hook.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HookCallback<'a> {
    /// The id with which the hook was registered.
    #[serde(borrow, deserialize_with = "field")]
    pub callback_id: Option<Cow<'a, str>>,
    /// The input of the hook.
    #[serde(borrow, deserialize_with = "field")]
    pub input: Option<HookInput<'a>>,
}

/// The input of a hook.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HookInput<'a> {
    /// The event, for example `PreToolUse`.
    #[serde(borrow, deserialize_with = "field")]
    pub hook_event_name: Option<Cow<'a, str>>,
    /// The conversation.
    #[serde(borrow, deserialize_with = "field")]
    pub session_id: Option<Cow<'a, str>>,
    /// The working directory of the agent.
    #[serde(borrow, deserialize_with = "field")]
    pub cwd: Option<Cow<'a, str>>,
    /// The permission mode in force.
    #[serde(borrow, deserialize_with = "field")]
    pub permission_mode: Option<Cow<'a, str>>,
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

/// A permission request for a tool.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CanUseTool<'a> {
    /// The tool.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_name: Option<Cow<'a, str>>,
    /// The input.
    #[serde(borrow)]
    pub input: Option<Json<'a>>,
    /// The call.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_use_id: Option<Cow<'a, str>>,
}

/// A message for one of our MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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
        let request = self.request?;
        // All builds write it without escapes and before the rest, so the request need not be
        // parsed twice.
        match find_string(request.as_str(), "subtype") {
            Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
            _ => request.view::<Subtype<'_>>().ok()?.subtype,
        }
    }

    /// Converts to an unknown request, so that it can at least be answered.
    pub(super) fn unknown(self) -> ControlRequest<'a> {
        ControlRequest {
            content: RequestContent::Unknown {
                subtype: self.subtype(),
                request: self.request,
            },
            request_id: self.request_id,
        }
    }
}

impl<'de> Deserialize<'de> for ControlRequest<'de> {
    /// Fails for a known request that cannot be parsed.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawRequest::deserialize(deserializer)?;
        let question = match (raw.subtype().as_deref(), raw.request) {
            (Some("hook_callback"), Some(request)) => request.view().map(RequestContent::Hook),
            (Some("can_use_tool"), Some(request)) => request.view().map(RequestContent::CanUseTool),
            (Some("mcp_message"), Some(request)) => request.view().map(RequestContent::Mcp),
            _ => return Ok(raw.unknown()),
        };
        Ok(Self {
            request_id: raw.request_id,
            content: question.map_err(Error::custom)?,
        })
    }
}

/// A request that is parsed in one pass: it is known, and starts with its subtype, as in all
/// builds.
#[derive(Deserialize)]
pub(super) struct PlainRequest<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    request: PlainQuestion<'a>,
}

struct PlainQuestion<'a>(RequestContent<'a>);

impl<'a> From<PlainRequest<'a>> for ControlRequest<'a> {
    fn from(plain: PlainRequest<'a>) -> Self {
        Self {
            request_id: plain.request_id,
            content: plain.request.0,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for PlainQuestion<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct SubtypeFirst;

        impl<'de> Visitor<'de> for SubtypeFirst {
            type Value = PlainQuestion<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a known question that begins with its subtype")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Self::Value, A::Error> {
                let Some(("subtype", subtype)) = object.next_entry::<&str, &str>()? else {
                    return Err(Error::custom("it does not begin with its subtype"));
                };
                let rest = MapAccessDeserializer::new(object);
                match subtype {
                    "hook_callback" => HookCallback::deserialize(rest).map(RequestContent::Hook),
                    "can_use_tool" => CanUseTool::deserialize(rest).map(RequestContent::CanUseTool),
                    "mcp_message" => McpMessage::deserialize(rest).map(RequestContent::Mcp),
                    _ => Err(Error::custom("it is not known")),
                }
                .map(PlainQuestion)
            }
        }

        deserializer.deserialize_map(SubtypeFirst)
    }
}

/// The answer to a request of the host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub struct ControlCancel<'a> {
    /// The id of the request.
    #[serde(borrow)]
    pub request_id: Cow<'a, str>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_one_go(line: &str) -> Option<ControlRequest<'_>> {
        serde_json::from_str::<PlainRequest<'_>>(line)
            .map(ControlRequest::from)
            .ok()
    }

    fn in_two_steps(line: &str) -> ControlRequest<'_> {
        serde_json::from_str(line).expect(line)
    }

    #[test]
    fn a_plain_request_parses_the_same_in_one_pass() {
        for line in [
            r#"{"type":"control_request","request_id":"1","request":{"subtype":"hook_callback","callback_id":"hook_0","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":7}}}"#,
            r#"{"request":{"subtype":"hook_callback"},"request_id":"1"}"#,
            r#"{"request_id":"1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#,
            r#"{"request_id":"1","request":{"subtype":"mcp_message","server_name":"autonoe","message":{"id":1}}}"#,
            r#"{"request_id":"1","request":{"subtype":"hook_callback","subtype":"mcp_message"}}"#,
        ] {
            assert_eq!(in_one_go(line), Some(in_two_steps(line)), "{line}");
        }
    }

    #[test]
    fn unusual_requests_are_left_to_the_two_pass_parser() {
        for line in [
            r#"{"request_id":"1","request":{"callback_id":"hook_0","subtype":"hook_callback"}}"#,
            r#"{"request_id":"1","request":{"subtype":"hook\u005fcallback"}}"#,
            r#"{"request_id":"1","request":{"sub\u0074ype":"hook_callback"}}"#,
            r#"{"request_id":"1","request":{"subtype":"elicitation"}}"#,
            r#"{"request_id":"1","request":{"subtype":7}}"#,
            r#"{"request_id":"1","request":{}}"#,
            r#"{"request_id":"1","request":null}"#,
            r#"{"request_id":"1"}"#,
        ] {
            assert_eq!(in_one_go(line), None, "{line}");
            assert_eq!(in_two_steps(line).request_id, "1", "{line}");
        }
    }
}
