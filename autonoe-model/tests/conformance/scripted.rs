//! Providers connected to a scripted server.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use autonoe_model::conformance::{
    BrokenStream, ModelHarness, NotStaged, ProviderScenario, Replayed, StagedProvider,
};
use autonoe_model::provider::{ProviderContext, provider_spec};
use autonoe_model::{ModelClient, ModelErrorCode};
use autonoe_testkit::model_server::anthropic::AnthropicServer;
use autonoe_testkit::model_server::gemini::GeminiServer;
use autonoe_testkit::model_server::openai::OpenAiServer;
use autonoe_testkit::model_server::{Ending, MainRequests, ModelScript, ModelServer, Turn};
use serde_json::{Value, json};

use crate::conformance::replies;
use crate::conformance::turns::turn;

/// Key that must not leak.
pub(crate) const KEY: &str = "sk-nobody-may-see-0123456789";

/// Protocols, each with its provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Api {
    Anthropic,
    Responses,
    Chat,
    Google,
}

impl Api {
    /// Returns the provider's type in a configuration.
    pub(crate) fn tag(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::Responses => "openai",
            Self::Chat => "openai-compatible",
            Self::Google => "google",
        }
    }

    /// Selects the term of the vendor: Anthropic, OpenAI, Google.
    pub(crate) fn word(self, words: [&'static str; 3]) -> &'static str {
        match self {
            Self::Anthropic => words[0],
            Self::Responses | Self::Chat => words[1],
            Self::Google => words[2],
        }
    }

    pub(crate) fn serve(self, script: ModelScript) -> Server {
        match self {
            Self::Anthropic => Server::Anthropic(AnthropicServer::start(script)),
            Self::Responses | Self::Chat => Server::OpenAi(OpenAiServer::start(script)),
            Self::Google => Server::Gemini(GeminiServer::start(script)),
        }
    }
}

pub(crate) enum Server {
    Anthropic(AnthropicServer),
    OpenAi(OpenAiServer),
    Gemini(GeminiServer),
}

impl Server {
    pub(crate) fn base_url(&self) -> String {
        match self {
            Self::OpenAi(server) => server.api_url(),
            other => other.url(),
        }
    }
}

impl Deref for Server {
    type Target = ModelServer;

    fn deref(&self) -> &ModelServer {
        match self {
            Self::Anthropic(server) => server,
            Self::OpenAi(server) => server,
            Self::Gemini(server) => server,
        }
    }
}

/// A provider under test.
pub(crate) struct ScriptedProvider(pub(crate) Api);

impl ScriptedProvider {
    pub(crate) fn spec(&self, base_url: &str, timeouts: &Value) -> Value {
        json!({
            "type": self.0.tag(),
            "baseUrl": base_url,
            "key": {"env": "THE_KEY"},
            "timeouts": timeouts,
        })
    }
}

#[async_trait]
impl ModelHarness for ScriptedProvider {
    async fn stage(
        &self,
        scenario: &ProviderScenario,
    ) -> Result<Box<dyn StagedProvider>, NotStaged> {
        let Self(api) = *self;
        let mut context =
            ProviderContext::new(api.tag()).with_environment([("THE_KEY".into(), KEY.into())]);
        let code = match scenario {
            ProviderScenario::Refuses { code } => Some(*code),
            _ => None,
        };
        let turn = match code {
            Some(ModelErrorCode::ProviderNotConfigured | ModelErrorCode::ProviderNotSupported) => {
                Turn::text("Nobody asks.")
            }
            _ => turn(api, scenario).ok_or(NotStaged::Impossible)?,
        };
        let script =
            ModelScript::from_fn(move |_| turn.clone()).with_main_requests(MainRequests::All);
        let server = api.serve(script);
        let is_impatient = matches!(
            scenario,
            ProviderScenario::Hangs
                | ProviderScenario::Breaks {
                    kind: BrokenStream::Silent,
                    ..
                }
        );
        let timeouts = if is_impatient {
            json!({"headMs": 5_000, "silenceMs": 3_000})
        } else {
            json!({})
        };
        let mut spec = self.spec(&server.base_url(), &timeouts);
        match code {
            Some(ModelErrorCode::ProviderNotConfigured) => context.environment.clear(),
            Some(ModelErrorCode::ProviderNotSupported) => spec["type"] = "nobody".into(),
            _ => {}
        }
        let model = provider_spec(&spec)?.build(&context)?.model("model-x")?;
        Ok(Box::new(ScriptedStage {
            api,
            server,
            model,
            scenario: scenario.clone(),
        }))
    }

    fn key(&self) -> &str {
        KEY
    }

    fn printed(&self) -> Vec<String> {
        let environment = [("THE_KEY".into(), KEY.into())];
        let context = ProviderContext::new("p").with_environment(environment);
        let mut debug_outputs = vec![format!("{context:?}")];
        // From a variable, and as a literal value.
        for key in [json!({"env": "THE_KEY"}), json!({"value": KEY})] {
            let mut spec = self.spec("http://127.0.0.1:9/v1", &json!({}));
            spec["key"] = key;
            let spec = provider_spec(&spec).expect("a spec");
            let provider = spec.build(&context).expect("it builds");
            let model = provider.model("model-x").expect("a model");
            debug_outputs.push(format!("{spec:?} {provider:?} {model:?}"));
            debug_outputs.push(serde_json::to_string(&spec).expect("it can be written"));
        }
        debug_outputs
    }
}

struct ScriptedStage {
    api: Api,
    server: Server,
    model: Arc<dyn ModelClient>,
    scenario: ProviderScenario,
}

#[async_trait]
impl StagedProvider for ScriptedStage {
    fn model(&self) -> Arc<dyn ModelClient> {
        self.model.clone()
    }

    fn requests(&self) -> Vec<Value> {
        let prompts = self.server.log().main_requests();
        prompts.into_iter().map(|prompt| prompt.raw).collect()
    }

    async fn wait_for_disconnect(&self) {
        let left = self
            .server
            .log()
            .wait_for(Duration::from_secs(60), |exchange| {
                exchange.ending == Some(Ending::PeerLeft)
            });
        left.await.expect("the server sees that the client left");
    }

    fn replayed(&self) -> Option<Replayed> {
        let ProviderScenario::Answers { message, .. } = &self.scenario else {
            return None;
        };
        let last = self.requests().pop()?;
        Some(Replayed {
            received: replies::received(self.api, message),
            sent_back: replies::sent_back(self.api, &last),
        })
    }
}
