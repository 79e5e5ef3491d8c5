//! Fixture: the three CLIs and their scripted models.

use std::ops::Deref;
use std::sync::Arc;

use autonoe_core::AgentClientFactory;
use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelScript, ModelServer, Turn};
use serde_json::json;

use crate::fixture::Fixture;
use crate::{claude, codex, gemini};

/// One of the CLIs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
}

/// A model server, and its address.
pub(crate) struct Model {
    pub(crate) url: String,
    server: Box<dyn Deref<Target = ModelServer>>,
}

impl Deref for Model {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        &self.server
    }
}

impl Cli {
    pub(crate) const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// Starts a model of its vendor. A caller that needs the whole script to be used must check
    /// that.
    pub(crate) fn model(self, script: ModelScript) -> Model {
        match self {
            Self::Claude => {
                let server = AnthropicServer::start(script).unverified();
                Model {
                    url: server.url(),
                    server: Box::new(server),
                }
            }
            Self::Codex => {
                let server = OpenAiServer::start(script).unverified();
                Model {
                    url: server.api_url(),
                    server: Box::new(server),
                }
            }
            Self::Gemini => {
                let server = GeminiServer::start(script).unverified();
                Model {
                    url: server.url(),
                    server: Box::new(server),
                }
            }
        }
    }

    pub(crate) fn agents(self, place: &Fixture, url: &str) -> Arc<dyn AgentClientFactory> {
        match self {
            Self::Claude => claude::agents(place, url),
            Self::Codex => codex::agents(place, url),
            Self::Gemini => gemini::agents(place, url),
        }
    }

    /// A turn in which the model runs a command.
    pub(crate) fn runs(self, command: &str) -> Turn {
        match self {
            Self::Claude => Turn::tool("Bash", json!({"command": command})),
            Self::Codex => Turn::tool("exec_command", json!({"cmd": command})),
            Self::Gemini => Turn::tool("run_shell_command", json!({"command": command})),
        }
    }

    /// The turns in which the model writes lines to `hello.txt`, and says that it is done.
    pub(crate) fn writes(self, lines: &[&str]) -> [Turn; 2] {
        let lines = lines.join("\\n");
        let name = self.name();
        let command = format!("printf '{lines}\\nby {name}\\n' > hello.txt");
        [
            self.runs(&command),
            Turn::text("Done. All tests pass, yes."),
        ]
    }
}
