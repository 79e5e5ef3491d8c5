//! Our agent on a model, in a place.

use autonoe_core::{BackendSpec, ProjectPaths, SpecContext};
use autonoe_model::{ModelBackend, provider_spec};
use serde_json::json;

use crate::backends::place::Place;
use crate::backends::run::Agents;
use crate::backends::served::Vendor;

/// An API that models are asked by.
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
    pub(crate) fn agents(self, place: &Place, url: &str) -> Agents {
        let (provider, model) = match self {
            Self::Messages => ("anthropic", "claude-sonnet-4-5"),
            Self::Responses => ("openai", "gpt-5"),
            Self::Chat => ("openai-compatible", "maker/small-model"),
            Self::Gemini => ("google", "gemini-2.5-pro"),
        };
        let provider = provider_spec(&json!({
            "type": provider, "key": {"env": "THE_KEY"}, "baseUrl": url,
        }));
        let backend = ModelBackend::new(provider.expect("a spec"), model);
        let environment = place.environment([("THE_KEY", "dummy".to_owned())]);
        let context =
            SpecContext::new(ProjectPaths::new(place.root())).with_environment(environment);
        Agents {
            factory: backend.build(&context).expect("it can be built"),
            outer_sandbox: None,
        }
    }
}
