//! `Vendor`, the providers with their scripted servers.

use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{MainRequests, ModelScript, ModelServer, Turn};
use serde_json::{Value, json};

/// A provider, by its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    Anthropic,
    Responses,
    Chat,
    Gemini,
}

/// A scripted server of a vendor.
pub(crate) enum Server {
    Anthropic(AnthropicServer),
    OpenAi(OpenAiServer),
    Gemini(GeminiServer),
}

impl Vendor {
    pub(crate) const ALL: [Self; 4] = [Self::Anthropic, Self::Responses, Self::Chat, Self::Gemini];

    /// Starts a server that answers every request with the next turn.
    pub(crate) fn serve<T: Into<Turn>>(self, turns: impl IntoIterator<Item = T>) -> Server {
        let script = ModelScript::new(turns).with_main_requests(MainRequests::All);
        match self {
            Self::Anthropic => Server::Anthropic(AnthropicServer::start(script)),
            Self::Responses | Self::Chat => Server::OpenAi(OpenAiServer::start(script)),
            Self::Gemini => Server::Gemini(GeminiServer::start(script)),
        }
    }

    /// Returns the model to request. One of them has an unknown price.
    pub(crate) fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::Responses => "gpt-5",
            Self::Chat => "maker/small-model",
            Self::Gemini => "gemini-2.5-pro",
        }
    }

    /// Returns the provider for `models.json`, with its key in `THE_KEY`.
    pub(crate) fn spec(self, server: &Server) -> Value {
        let tag = match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "openai",
            Self::Chat => "openai-compatible",
            Self::Gemini => "google",
        };
        json!({"type": tag, "key": {"env": "THE_KEY"}, "baseUrl": server.base_url()})
    }
}

impl Server {
    fn base_url(&self) -> String {
        match self {
            Self::OpenAi(server) => server.api_url(),
            Self::Anthropic(server) => server.url(),
            Self::Gemini(server) => server.url(),
        }
    }

    /// Disables the check on drop.
    pub(crate) fn unverified(self) -> Self {
        match self {
            Self::Anthropic(server) => Self::Anthropic(server.unverified()),
            Self::OpenAi(server) => Self::OpenAi(server.unverified()),
            Self::Gemini(server) => Self::Gemini(server.unverified()),
        }
    }
}

impl std::ops::Deref for Server {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        match self {
            Self::Anthropic(server) => server,
            Self::OpenAi(server) => server,
            Self::Gemini(server) => server,
        }
    }
}
