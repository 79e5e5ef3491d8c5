//! The talk between program and host.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};
use serde_json::Value;

use super::Json;
use super::lenient::{field, shape_of_object};
use super::peek::string_under;

/// A question of the program. Every one must be answered, and by its id.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ControlRequest<'a> {
    /// Pairs the question with its answer.
    pub request_id: Cow<'a, str>,
    /// What is asked.
    pub question: Question<'a>,
}

/// What the program asks.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Question<'a> {
    /// A hook is to decide or to take notice.
    Hook(HookCallback<'a>),
    /// Whether a tool may be used, after its own rules could not tell.
    CanUseTool(CanUseTool<'a>),
    /// A message for one of our MCP servers.
    Mcp(McpMessage<'a>),
    /// Something else, or one of the above that cannot be read.
    Unknown {
        /// What it says that it is.
        subtype: Option<Cow<'a, str>>,
        /// All of it.
        request: Option<Json<'a>>,
    },
}

/// A hook is to decide or to take notice.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HookCallback<'a> {
    /// Which hook: the id that it was announced with.
    #[serde(borrow, deserialize_with = "field")]
    pub callback_id: Option<Cow<'a, str>>,
    /// What it is about.
    #[serde(borrow, deserialize_with = "field")]
    pub input: Option<HookInput<'a>>,
}

/// What a hook is asked about.
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
    /// The directory that the agent is in.
    #[serde(borrow, deserialize_with = "field")]
    pub cwd: Option<Cow<'a, str>>,
    /// The permission mode that is in force.
    #[serde(borrow, deserialize_with = "field")]
    pub permission_mode: Option<Cow<'a, str>>,
    /// The tool.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_name: Option<Cow<'a, str>>,
    /// What it is called with.
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

shape_of_object!(HookInput<'de>);

/// A question whether a tool may be used.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CanUseTool<'a> {
    /// The tool.
    #[serde(borrow, deserialize_with = "field")]
    pub tool_name: Option<Cow<'a, str>>,
    /// What it is called with.
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
    /// Its id pairs nothing: one build uses the same ids twice at a time. The
    /// id of the control request does.
    #[serde(borrow)]
    pub message: Option<Json<'a>>,
}

/// A question of which only the id is understood.
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
        // All builds spell it plainly and before the rest, which need not be read twice then.
        match string_under(request.as_str(), "subtype") {
            Some(plain) if !plain.contains('\\') => Some(Cow::Borrowed(plain)),
            _ => request.view::<Subtype<'_>>().ok()?.subtype,
        }
    }

    /// Takes the question as one that nobody knows, so that it can at least be answered.
    pub(super) fn unknown(self) -> ControlRequest<'a> {
        ControlRequest {
            question: Question::Unknown {
                subtype: self.subtype(),
                request: self.request,
            },
            request_id: self.request_id,
        }
    }
}

impl<'de> Deserialize<'de> for ControlRequest<'de> {
    /// Fails for a known question that cannot be read.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawRequest::deserialize(deserializer)?;
        let question = match (raw.subtype().as_deref(), raw.request) {
            (Some("hook_callback"), Some(request)) => request.view().map(Question::Hook),
            (Some("can_use_tool"), Some(request)) => request.view().map(Question::CanUseTool),
            (Some("mcp_message"), Some(request)) => request.view().map(Question::Mcp),
            _ => return Ok(raw.unknown()),
        };
        Ok(Self {
            request_id: raw.request_id,
            question: question.map_err(Error::custom)?,
        })
    }
}

/// A question that is read in one go: it is known, and says first what it is, as all builds do.
#[derive(Deserialize)]
pub(super) struct PlainRequest<'a> {
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    #[serde(borrow)]
    request: PlainQuestion<'a>,
}

struct PlainQuestion<'a>(Question<'a>);

impl<'a> From<PlainRequest<'a>> for ControlRequest<'a> {
    fn from(plain: PlainRequest<'a>) -> Self {
        Self {
            request_id: plain.request_id,
            question: plain.request.0,
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
                    "hook_callback" => HookCallback::deserialize(rest).map(Question::Hook),
                    "can_use_tool" => CanUseTool::deserialize(rest).map(Question::CanUseTool),
                    "mcp_message" => McpMessage::deserialize(rest).map(Question::Mcp),
                    _ => Err(Error::custom("it is not known")),
                }
                .map(PlainQuestion)
            }
        }

        deserializer.deserialize_map(SubtypeFirst)
    }
}

/// The answer to a question of the host.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ControlResponse<'a> {
    /// The question.
    pub request_id: Cow<'a, str>,
    /// The answer. A success may have none; a failure has a sentence.
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
            _ => Err(error.unwrap_or(Cow::Borrowed("the program did not say why"))),
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

/// The answer to a question is not wanted any more: stop, and send nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct ControlCancel<'a> {
    /// The question.
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
    fn a_plain_question_reads_the_same_in_one_go() {
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
    fn what_is_not_plain_is_left_to_the_careful_reader() {
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
