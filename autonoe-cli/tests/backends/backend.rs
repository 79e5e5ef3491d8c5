//! `Backend`, the backends that stories run on.

use std::path::Path;
use std::sync::Arc;

use autonoe_testkit::ScriptedBackend;
use autonoe_testkit::model_server::{MainRequests, ModelScript, ReceivedPrompt, Refusal, Turn};

use crate::backends::dialect::Dialect;
use crate::backends::model_server::{self, Server, Vendor};
use crate::backends::on_models::Api;
use crate::backends::on_programs::{
    claude, claude_quota_refusal, codex, codex_quota_refusal, gemini,
};
use crate::backends::outcome::Outcome;
use crate::backends::run::{Agents, run};
use crate::backends::scripted;
use crate::backends::story::Story;
use crate::backends::workspace::TempWorkspace;

/// Gemini CLI asks the model after 30 turns whether it is in a loop, and repeats the question for
/// minutes unless it gets such an answer.
const NO_LOOP: &str =
    r#"{"unproductive_state_analysis": "none", "unproductive_state_confidence": 0}"#;

/// A backend that a story runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    /// Claude Code of a version.
    Claude(&'static str),
    Codex,
    Gemini,
    /// Our agent on a model behind an API.
    Model(Api),
    /// Scripted agents, which have no model.
    Scripted,
}

impl Backend {
    /// Runs a story in its own project, and returns the outcome.
    pub(crate) async fn run_story(self, story: &Story) -> Outcome {
        let place = TempWorkspace::new();
        if self == Self::Scripted {
            return play_scripted(story, &place).await;
        }
        let server = self.serve(story, &place.root());

        let outcome = run(story, self.agents(&place, &server), &place).await;

        server.verify();
        outcome
    }

    /// Runs a story in `place`, and returns the requests that its model received.
    pub(crate) async fn prompts(self, story: &Story, place: &TempWorkspace) -> Vec<ReceivedPrompt> {
        let server = self.serve(story, &place.root());
        run(story, self.agents(place, &server), place).await;
        server.verify();
        server.log().main_requests()
    }

    /// Starts the scripted model of a story for an agent that works in `root`.
    pub(crate) fn serve(self, story: &Story, root: &Path) -> Server {
        let quota_spent = match self {
            Self::Claude(_) => claude_quota_refusal(),
            Self::Codex => codex_quota_refusal(),
            Self::Gemini => Refusal::quota_spent(),
            Self::Model(_) => Refusal::rate_limited().retry_after(5 * 3600),
            Self::Scripted => unreachable!("scripted agents ask no model"),
        };
        self.serve_script(model_server::script(
            story,
            self.dialect(),
            root,
            &quota_spent,
        ))
    }

    /// Starts a scripted model for an agent.
    pub(crate) fn serve_script(self, script: ModelScript) -> Server {
        match self {
            Self::Claude(_) => Vendor::Anthropic.serve(script),
            Self::Codex => Vendor::OpenAi.serve(script),
            Self::Gemini => Vendor::Google.serve(script.with_side_answer(Turn::text(NO_LOOP))),
            Self::Model(api) => {
                let script = script.with_main_requests(MainRequests::All);
                api.vendor().serve(script)
            }
            Self::Scripted => unreachable!("scripted agents ask no model"),
        }
    }

    /// Returns the dialect of the model's tool calls.
    pub(crate) fn dialect(self) -> Dialect {
        match self {
            Self::Claude(_) | Self::Model(_) | Self::Scripted => Dialect::Claude,
            Self::Codex => Dialect::Codex,
            Self::Gemini => Dialect::Gemini,
        }
    }

    fn agents(self, place: &TempWorkspace, server: &Server) -> Agents {
        let url = server.base_url();
        match self {
            Self::Claude(version) => claude(version, place, url),
            Self::Codex => codex(place, &url),
            Self::Gemini => gemini(place, url),
            Self::Model(api) => api.agents(place, &url),
            Self::Scripted => unreachable!("scripted agents ask no model"),
        }
    }
}

async fn play_scripted(story: &Story, place: &TempWorkspace) -> Outcome {
    let sessions = story.sessions.iter();
    let scripts = sessions.map(|session| scripted::script(session, &place.root()));
    let agents = Arc::new(ScriptedBackend::new(scripts));
    let factory = agents.clone();
    let outer_sandbox = None;
    let agents_of_run = Agents {
        factory,
        outer_sandbox,
    };

    let outcome = run(story, agents_of_run, place).await;

    agents.verify();
    outcome
}
