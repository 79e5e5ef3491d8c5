//! The three programs, and what their models say.

use std::ops::Deref;
use std::sync::Arc;

use autonoe_core::AgentClientFactory;
use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{ModelServer, Script, Turn};
use serde_json::json;

use crate::setting::Place;
use crate::{claude, codex, gemini};

/// One of the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cli {
    Claude,
    Codex,
    Gemini,
}

/// A model, and where it is reached.
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

    /// Starts a model of its vendor. Who wants it to have said all asks for that.
    pub(crate) fn model(self, script: Script) -> Model {
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

    pub(crate) fn agents(self, place: &Place, url: &str) -> Arc<dyn AgentClientFactory> {
        match self {
            Self::Claude => claude::agents(place, url),
            Self::Codex => codex::agents(place, url),
            Self::Gemini => gemini::agents(place, url),
        }
    }

    /// A turn in which it is to run a command.
    pub(crate) fn runs(self, command: &str) -> Turn {
        match self {
            Self::Claude => Turn::tool("Bash", json!({"command": command})),
            Self::Codex => Turn::tool("exec_command", json!({"cmd": command})),
            Self::Gemini => Turn::tool("run_shell_command", json!({"command": command})),
        }
    }

    /// The turns in which it writes lines to `hello.txt`, and says that it is done.
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
