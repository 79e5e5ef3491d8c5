//! Uniform test client for the APIs of all vendors.

use std::ops::Deref;

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{Credential, ModelScript, ModelServer};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::model_server::client::{Response, open_with, read_response};

/// An API of a vendor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

pub(crate) const ALL: [Api; 4] = [Api::Messages, Api::Responses, Api::Chat, Api::Gemini];

/// The delivery of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    Whole,
    Stream,
}

/// A server of any vendor; all of them are strict on drop.
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
    pub(crate) fn start(self, script: impl Into<ModelScript>) -> AnyServer {
        match self {
            Self::Messages => AnyServer::Anthropic(AnthropicServer::start(script)),
            Self::Responses | Self::Chat => AnyServer::OpenAi(OpenAiServer::start(script)),
            Self::Gemini => AnyServer::Gemini(GeminiServer::start(script)),
        }
    }

    /// Requests a message and returns the complete response.
    pub(crate) async fn request_message(
        self,
        server: &ModelServer,
        text: &str,
        delivery: Delivery,
    ) -> Response {
        self.send(server, &self.prompt(text, delivery), delivery)
            .await
    }

    /// Sends any body to the message endpoint and returns the complete response.
    pub(crate) async fn send(
        self,
        server: &ModelServer,
        body: &Value,
        delivery: Delivery,
    ) -> Response {
        read_response(self.open(server, body, delivery).await).await
    }

    /// Requests a message without reading the response.
    pub(crate) async fn open(
        self,
        server: &ModelServer,
        body: &Value,
        delivery: Delivery,
    ) -> TcpStream {
        let (credential, _) = self.credential();
        let (path, body) = (self.path(delivery), body.to_string());
        open_with(server, "POST", path, credential, &body).await
    }

    pub(crate) fn path(self, delivery: Delivery) -> &'static str {
        match (self, delivery) {
            (Self::Messages, _) => "/v1/messages",
            (Self::Responses, _) => "/v1/responses",
            (Self::Chat, _) => "/v1/chat/completions",
            (Self::Gemini, Delivery::Whole) => "/v1beta/models/x-1:generateContent",
            (Self::Gemini, Delivery::Stream) => "/v1beta/models/x-1:streamGenerateContent?alt=sse",
        }
    }

    /// Returns a header with a credential, and its kind.
    pub(crate) fn credential(self) -> (&'static str, Credential) {
        match self {
            Self::Messages => ("x-api-key: sk-hunter2", Credential::ApiKey),
            Self::Responses | Self::Chat => {
                ("authorization: Bearer sk-hunter2", Credential::Bearer)
            }
            Self::Gemini => ("x-goog-api-key: sk-hunter2", Credential::ApiKey),
        }
    }

    /// Returns a request with this user message and one tool.
    pub(crate) fn prompt(self, text: &str, delivery: Delivery) -> Value {
        let stream = delivery == Delivery::Stream;
        let schema = json!({"type": "object"});
        match self {
            Self::Messages => json!({
                "model": "x-1", "stream": stream, "system": "Be brief.",
                "messages": [{"role": "user", "content": text}],
                "tools": [{"name": "Bash", "input_schema": schema}],
            }),
            Self::Responses => json!({
                "model": "x-1", "stream": stream, "instructions": "Be brief.", "input": text,
                "include": ["reasoning.encrypted_content"],
                "tools": [{"type": "function", "name": "Bash", "parameters": schema}],
            }),
            Self::Chat => json!({
                "model": "x-1", "stream": stream, "stream_options": {"include_usage": true},
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": text},
                ],
                "tools": [{"type": "function", "function": {"name": "Bash", "parameters": schema}}],
            }),
            Self::Gemini => json!({
                "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "contents": [{"role": "user", "parts": [{"text": text}]}],
                "tools": [{"functionDeclarations": [{"name": "Bash", "parameters": schema}]}],
            }),
        }
    }

    /// Returns the text of an answer, without reasoning and calls.
    pub(crate) fn text(self, response: &Response, delivery: Delivery) -> String {
        let texts: Vec<Value> = match (self, delivery) {
            (Self::Messages, Delivery::Whole) => at(&response.json(), "/content/0/text"),
            (Self::Messages, Delivery::Stream) => each(response, "/delta/text"),
            (Self::Responses, Delivery::Whole) => at(&response.json(), "/output/0/content/0/text"),
            (Self::Responses, Delivery::Stream) => each(response, "/delta"),
            (Self::Chat, Delivery::Whole) => at(&response.json(), "/choices/0/message/content"),
            (Self::Chat, Delivery::Stream) => each(response, "/choices/0/delta/content"),
            (Self::Gemini, Delivery::Whole) => {
                at(&response.json(), "/candidates/0/content/parts/0/text")
            }
            (Self::Gemini, Delivery::Stream) => {
                each(response, "/candidates/0/content/parts/0/text")
            }
        };
        texts.iter().filter_map(Value::as_str).collect()
    }
}

fn at(whole: &Value, pointer: &str) -> Vec<Value> {
    whole.pointer(pointer).cloned().into_iter().collect()
}

fn each(response: &Response, pointer: &str) -> Vec<Value> {
    let chunks = response.chunks();
    chunks.iter().flat_map(|chunk| at(chunk, pointer)).collect()
}
