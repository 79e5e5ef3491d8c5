//! [`Backend`]: a backend in a temporary project, on the real programs, on models or scripted.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autonoe_acp::{AcpBackend, AcpOptions};
use autonoe_claude::{ClaudeBackend, ClaudeOptions, ConfigFolder};
use autonoe_codex::{CodexBackend, CodexOptions, CodexProvider};
use autonoe_core::agent::OuterSandbox;
use autonoe_core::gate::ProjectPaths;
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_model::ModelSpec;
use autonoe_model::provider::provider_spec;
use autonoe_testkit::ScriptedBackend;
use autonoe_testkit::model_server::anthropic::{Claim, RateLimits};
use autonoe_testkit::model_server::{MainRequests, ModelScript, ReceivedPrompt, Refusal, Turn};
use jiff::Timestamp;
use serde_json::json;

use crate::backends::dialect::Dialect;
use crate::backends::model_server::{Server, Vendor};
use crate::backends::outcome::Outcome;
use crate::backends::run::{Agents, run};
use crate::backends::run_script::RunScript;
use crate::backends::workspace::TempWorkspace;
use crate::backends::{model_server, programs, scripted};

/// Gemini CLI asks the model after 30 turns whether it is in a loop, and repeats the question for
/// minutes unless it gets such an answer.
const NO_LOOP: &str =
    r#"{"unproductive_state_analysis": "none", "unproductive_state_confidence": 0}"#;

/// A backend that a script runs on.
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
    /// Runs a script in its own project, and returns the outcome.
    pub(crate) async fn execute(self, run_script: &RunScript) -> Outcome {
        let place = TempWorkspace::new();
        if self == Self::Scripted {
            return play_scripted(run_script, &place).await;
        }
        let server = self.serve(run_script, &place.root());

        let outcome = run(run_script, self.agents(&place, &server), &place).await;

        server.verify();
        outcome
    }

    /// Runs a script in `place`, and returns the requests that its model received.
    pub(crate) async fn prompts(
        self,
        run_script: &RunScript,
        place: &TempWorkspace,
    ) -> Vec<ReceivedPrompt> {
        let server = self.serve(run_script, &place.root());
        run(run_script, self.agents(place, &server), place).await;
        server.verify();
        server.log().main_requests()
    }

    /// Starts the scripted model of a script for an agent that works in `root`.
    pub(crate) fn serve(self, run_script: &RunScript, root: &Path) -> Server {
        let quota_spent = match self {
            Self::Claude(_) => claude_quota_refusal(),
            Self::Codex => codex_quota_refusal(),
            Self::Gemini => Refusal::quota_spent(),
            Self::Model(_) => Refusal::rate_limited().retry_after(5 * 3600),
            Self::Scripted => unreachable!("scripted agents ask no model"),
        };
        self.serve_script(model_server::script(
            run_script,
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

async fn play_scripted(run_script: &RunScript, place: &TempWorkspace) -> Outcome {
    let sessions = run_script.sessions.iter();
    let scripts = sessions.map(|session| scripted::script(session, &place.root()));
    let agents = Arc::new(ScriptedBackend::new(scripts));
    let factory = agents.clone();
    let outer_sandbox = None;
    let agents_of_run = Agents {
        factory,
        outer_sandbox,
    };

    let outcome = run(run_script, agents_of_run, place).await;

    agents.verify();
    outcome
}

/// An API of a model service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Messages,
    Responses,
    Chat,
    Gemini,
}

impl Api {
    pub(crate) fn vendor(self) -> Vendor {
        match self {
            Self::Messages => Vendor::Anthropic,
            Self::Responses | Self::Chat => Vendor::OpenAi,
            Self::Gemini => Vendor::Google,
        }
    }

    /// Returns our agent on a model behind this API.
    pub(crate) fn agents(self, place: &TempWorkspace, url: &str) -> Agents {
        let (provider, model) = match self {
            Self::Messages => ("anthropic", "claude-sonnet-4-5"),
            Self::Responses => ("openai", "gpt-5"),
            Self::Chat => ("openai-compatible", "maker/small-model"),
            Self::Gemini => ("google", "gemini-2.5-pro"),
        };
        let provider = provider_spec(&json!({
            "type": provider, "key": {"env": "THE_KEY"}, "baseUrl": url,
        }));
        let backend = ModelSpec::new(provider.expect("a spec"), model);
        let environment = place.environment([("THE_KEY", "dummy".to_owned())]);
        let context =
            SpecContext::new(ProjectPaths::new(place.root())).with_environment(environment);
        Agents {
            factory: backend.build(&context).expect("it can be built"),
            outer_sandbox: None,
        }
    }
}

/// Returns Claude Code of this version, with a subscription login.
pub(crate) fn claude(version: &str, place: &TempWorkspace, url: String) -> Agents {
    let environment = place.environment([
        ("ANTHROPIC_BASE_URL", url),
        ("CLAUDE_CODE_OAUTH_TOKEN", "dummy".to_owned()),
    ]);
    let mut options = ClaudeOptions::new(programs::claude(version), environment);
    options.config = ConfigFolder::PerSession;
    options.program.temporary = place.temporary();
    Agents {
        factory: Arc::new(ClaudeBackend::new(options)),
        outer_sandbox: None,
    }
}

/// Returns Codex in an outer sandbox.
pub(crate) fn codex(place: &TempWorkspace, url: &str) -> Agents {
    let environment = place.environment([("PASSE_PARTOUT", "dummy".to_owned())]);
    let mut provider = CodexProvider::new(url, "PASSE_PARTOUT");
    provider.max_retries = Some(1);
    let mut options = CodexOptions::new(programs::codex(), environment);
    options.program.model = Some("gpt-5.5".into());
    options.program.temporary = place.temporary();
    options.provider = Some(provider);
    Agents {
        factory: Arc::new(CodexBackend::new(options)),
        outer_sandbox: Some(OuterSandbox::bubblewrap()),
    }
}

/// Returns Gemini CLI in an outer sandbox.
pub(crate) fn gemini(place: &TempWorkspace, url: String) -> Agents {
    let environment = place.environment([
        ("GEMINI_API_KEY", "dummy".to_owned()),
        ("GOOGLE_GEMINI_BASE_URL", url),
    ]);
    let mut options = AcpOptions::gemini(programs::node(), programs::gemini(), environment);
    options.program.model = Some("gemini-2.5-flash".into());
    options.program.temporary = place.temporary();
    Agents {
        factory: Arc::new(AcpBackend::new(options)),
        outer_sandbox: Some(OuterSandbox::bubblewrap()),
    }
}

/// The response of Anthropic for an exhausted subscription.
fn claude_quota_refusal() -> Refusal {
    Refusal::quota(&RateLimits::rejected(Claim::FiveHour, in_five_hours()))
}

/// The response of OpenAI for an exhausted subscription.
fn codex_quota_refusal() -> Refusal {
    let second = in_five_hours().as_second();
    Refusal::new(
        429,
        "usage_limit_reached",
        "The usage limit has been reached",
    )
    .with_field("plan_type", "plus".into())
    .with_field("resets_at", second.into())
    .with_header("x-codex-primary-used-percent", "100")
    .with_header("x-codex-primary-window-minutes", "300")
    .with_header("x-codex-primary-reset-at", &second.to_string())
}

fn in_five_hours() -> Timestamp {
    Timestamp::now() + Duration::from_secs(5 * 3600)
}
