//! [`Turn`]: one answer of the scripted model.

use std::time::Duration;

use hyper::HeaderMap;
use serde_json::Value;

use super::headers::scripted_header;
use super::{Refusal, ScriptedMessage};

/// One answer of the scripted model: a message, a refusal, any text, a closed connection or
/// silence.
///
/// ```
/// use std::time::Duration;
///
/// use autonoe_testkit::model_server::{Refusal, ScriptedMessage, Turn};
/// use serde_json::json;
///
/// let turns = [
///     Turn::from(Refusal::overloaded()),
///     Turn::tool("Bash", json!({"command": "cargo test"})),
///     Turn::from(ScriptedMessage::new().thinks("It passes.").says("Done.")),
///     Turn::text("I am late.").after(Duration::from_millis(50)),
///     Turn::html("<h1>Sign in to the network</h1>"),
///     Turn::hang(),
/// ];
/// ```
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) kind: Kind,
    pub(super) delay: Duration,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Message(ScriptedMessage),
    Refusal(Refusal),
    Raw { headers: HeaderMap, body: String },
    Disconnect,
    Hang,
}

impl Turn {
    /// Sends a text and ends the turn.
    pub fn text(text: impl Into<String>) -> Self {
        ScriptedMessage::new().says(text).into()
    }

    /// Calls one tool.
    pub fn tool(name: impl Into<String>, input: Value) -> Self {
        ScriptedMessage::new().uses_tool(name, input).into()
    }

    /// Answers with status 200 and this text, whatever the request is.
    ///
    /// # Panics
    ///
    /// If HTTP does not allow such a content type.
    pub fn raw(content_type: &str, body: impl Into<String>) -> Self {
        let headers = HeaderMap::from_iter([scripted_header("content-type", content_type)]);
        let body = body.into();
        Self::at_once(Kind::Raw { headers, body })
    }

    /// Answers with status 200 and an HTML page, as a proxy might.
    pub fn html(page: impl Into<String>) -> Self {
        Self::raw("text/html; charset=utf-8", page)
    }

    /// Closes the connection without an answer.
    pub fn disconnect() -> Self {
        Self::at_once(Kind::Disconnect)
    }

    /// Sends nothing until the client leaves.
    pub fn hang() -> Self {
        Self::at_once(Kind::Hang)
    }

    /// Delays the answer, in real time.
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    fn at_once(kind: Kind) -> Self {
        Self {
            kind,
            delay: Duration::ZERO,
        }
    }
}

impl From<ScriptedMessage> for Turn {
    fn from(message: ScriptedMessage) -> Self {
        Self::at_once(Kind::Message(message))
    }
}

impl From<Refusal> for Turn {
    fn from(refusal: Refusal) -> Self {
        Self::at_once(Kind::Refusal(refusal))
    }
}
