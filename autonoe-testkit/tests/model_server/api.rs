//! The APIs of all vendors, asked in the same way.

use std::ops::Deref;

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{Credential, ModelServer, Script};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::model_server::client::{Heard, hear_all, open_with};

/// An API of a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

pub(crate) const ALL: [Api; 4] = [Api::Messages, Api::Responses, Api::Chat, Api::Gemini];

/// How an answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum As {
    Whole,
    Stream,
}

/// A server of any vendor, strict on drop as each of them.
#[derive(Debug)]
pub(crate) enum AnyServer {
    Anthropic(AnthropicServer),
    OpenAi(OpenAiServer),
    Gemini(GeminiServer),
}

impl AnyServer {
    pub(crate) fn unverified(self) -> Self {
        match self {
            Self::Anthropic(server) => Self::Anthropic(server.unverified()),
            Self::OpenAi(server) => Self::OpenAi(server.unverified()),
            Self::Gemini(server) => Self::Gemini(server.unverified()),
        }
    }
}

impl Deref for AnyServer {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        match self {
            Self::Anthropic(server) => server,
            Self::OpenAi(server) => server,
            Self::Gemini(server) => server,
        }
    }
}

impl Api {
    pub(crate) fn start(self, script: impl Into<Script>) -> AnyServer {
        match self {
            Self::Messages => AnyServer::Anthropic(AnthropicServer::start(script)),
            Self::Responses | Self::Chat => AnyServer::OpenAi(OpenAiServer::start(script)),
            Self::Gemini => AnyServer::Gemini(GeminiServer::start(script)),
        }
    }

    /// Asks for a message and returns all that comes.
    pub(crate) async fn ask(self, server: &ModelServer, said: &str, wanted: As) -> Heard {
        self.send(server, &self.prompt(said, wanted), wanted).await
    }

    /// Sends any body where messages are asked for, and returns all that comes.
    pub(crate) async fn send(self, server: &ModelServer, body: &Value, wanted: As) -> Heard {
        hear_all(self.open(server, body, wanted).await).await
    }

    /// Asks for a message and reads nothing.
    pub(crate) async fn open(self, server: &ModelServer, body: &Value, wanted: As) -> TcpStream {
        let (credential, _) = self.credential();
        let (path, body) = (self.path(wanted), body.to_string());
        open_with(server, "POST", path, credential, &body).await
    }

    pub(crate) fn path(self, wanted: As) -> &'static str {
        match (self, wanted) {
            (Self::Messages, _) => "/v1/messages",
            (Self::Responses, _) => "/v1/responses",
            (Self::Chat, _) => "/v1/chat/completions",
            (Self::Gemini, As::Whole) => "/v1beta/models/x-1:generateContent",
            (Self::Gemini, As::Stream) => "/v1beta/models/x-1:streamGenerateContent?alt=sse",
        }
    }

    /// Returns a header with which a client proves itself, and what kind it is.
    pub(crate) fn credential(self) -> (&'static str, Credential) {
        match self {
            Self::Messages => ("x-api-key: sk-hunter2", Credential::ApiKey),
            Self::Responses | Self::Chat => {
                ("authorization: Bearer sk-hunter2", Credential::Bearer)
            }
            Self::Gemini => ("x-goog-api-key: sk-hunter2", Credential::ApiKey),
        }
    }

    /// Returns a request of one who says this and offers a tool.
    pub(crate) fn prompt(self, said: &str, wanted: As) -> Value {
        let stream = wanted == As::Stream;
        let schema = json!({"type": "object"});
        match self {
            Self::Messages => json!({
                "model": "x-1", "stream": stream, "system": "Be brief.",
                "messages": [{"role": "user", "content": said}],
                "tools": [{"name": "Bash", "input_schema": schema}],
            }),
            Self::Responses => json!({
                "model": "x-1", "stream": stream, "instructions": "Be brief.", "input": said,
                "include": ["reasoning.encrypted_content"],
                "tools": [{"type": "function", "name": "Bash", "parameters": schema}],
            }),
            Self::Chat => json!({
                "model": "x-1", "stream": stream, "stream_options": {"include_usage": true},
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": said},
                ],
                "tools": [{"type": "function", "function": {"name": "Bash", "parameters": schema}}],
            }),
            Self::Gemini => json!({
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "contents": [{"role": "user", "parts": [{"text": said}]}],
                "tools": [{"functionDeclarations": [{"name": "Bash", "parameters": schema}]}],
            }),
        }
    }

    /// Returns what the model says in an answer, thoughts and calls left out.
    pub(crate) fn text(self, heard: &Heard, wanted: As) -> String {
        let texts: Vec<Value> = match (self, wanted) {
            (Self::Messages, As::Whole) => at(&heard.json(), "/content/0/text"),
            (Self::Messages, As::Stream) => each(heard, "/delta/text"),
            (Self::Responses, As::Whole) => at(&heard.json(), "/output/0/content/0/text"),
            (Self::Responses, As::Stream) => each(heard, "/delta"),
            (Self::Chat, As::Whole) => at(&heard.json(), "/choices/0/message/content"),
            (Self::Chat, As::Stream) => each(heard, "/choices/0/delta/content"),
            (Self::Gemini, As::Whole) => at(&heard.json(), "/candidates/0/content/parts/0/text"),
            (Self::Gemini, As::Stream) => each(heard, "/candidates/0/content/parts/0/text"),
        };
        texts.iter().filter_map(Value::as_str).collect()
    }
}

fn at(whole: &Value, pointer: &str) -> Vec<Value> {
    whole.pointer(pointer).cloned().into_iter().collect()
}

fn each(heard: &Heard, pointer: &str) -> Vec<Value> {
    let chunks = heard.chunks();
    chunks.iter().flat_map(|chunk| at(chunk, pointer)).collect()
}
