//! The backends, and how each plays a story.

use std::path::Path;
use std::sync::Arc;

use autonoe_testkit::ScriptedAgents;
use autonoe_testkit::model_server::{MainRequests, Prompt, Refusal, Script, Turn};

use crate::backends::dialect::Dialect;
use crate::backends::on_models::Api;
use crate::backends::on_programs::{claude, codex, gemini, quota_of_claude, quota_of_codex};
use crate::backends::outcome::Outcome;
use crate::backends::place::Place;
use crate::backends::run::{Agents, run};
use crate::backends::scripted;
use crate::backends::served::{self, Server, Vendor};
use crate::backends::story::Story;

/// Gemini CLI asks the model after 30 turns whether it is in a loop, and repeats the question for
/// minutes unless it gets such an answer.
const NO_LOOP: &str =
    r#"{"unproductive_state_analysis": "none", "unproductive_state_confidence": 0}"#;

/// A backend that a story is played on.
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
    /// Plays a story in a project of its own, and returns what came of it.
    pub(crate) async fn play(self, story: &Story) -> Outcome {
        let place = Place::new();
        if self == Self::Scripted {
            return play_scripted(story, &place).await;
        }
        let server = self.serve(story, &place.root());

        let outcome = run(story, self.agents(&place, &server), &place).await;

        server.verify();
        outcome
    }

    /// Plays a story in `place`, and returns the requests that its model received.
    pub(crate) async fn prompts(self, story: &Story, place: &Place) -> Vec<Prompt> {
        let server = self.serve(story, &place.root());
        run(story, self.agents(place, &server), place).await;
        server.verify();
        server.log().main_requests()
    }

    /// Starts the scripted model of a story for an agent that works in `root`.
    pub(crate) fn serve(self, story: &Story, root: &Path) -> Server {
        let quota_spent = match self {
            Self::Claude(_) => quota_of_claude(),
            Self::Codex => quota_of_codex(),
            Self::Gemini => Refusal::quota_spent(),
            Self::Model(_) => Refusal::rate_limited().retry_after(5 * 3600),
            Self::Scripted => unreachable!("scripted agents ask no model"),
        };
        self.serve_script(served::script(story, self.dialect(), root, &quota_spent))
    }

    /// Starts a scripted model for an agent.
    pub(crate) fn serve_script(self, script: Script) -> Server {
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

    fn agents(self, place: &Place, server: &Server) -> Agents {
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

async fn play_scripted(story: &Story, place: &Place) -> Outcome {
    let sessions = story.sessions.iter();
    let scripts = sessions.map(|session| scripted::script(session, &place.root()));
    let agents = Arc::new(ScriptedAgents::new(scripts));
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
