//! Our agent on a model, in a temporary project.

use autonoe_core::gate::ProjectPaths;
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_model::ModelSpec;
use autonoe_model::provider::provider_spec;
use serde_json::json;

use crate::backends::model_server::Vendor;
use crate::backends::run::Agents;
use crate::backends::workspace::TempWorkspace;

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
