//! [`ChosenModel`]: finds the provider of a model, and prepares its options, keys and warnings.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::gate::ProjectPaths;
use autonoe_core::project::ConfigError;
use autonoe_core::spec::{BackendSpec, SpecContext};
use autonoe_model::backend::KeyLocations;
use autonoe_model::mcp::McpOptions;
use autonoe_model::provider::ProviderContext;
use autonoe_model::{
    AnthropicSpec, GoogleSpec, KeySource, ModelAgentOptions, ModelError, ModelErrorCode, ModelSpec,
    OpenAiSpec, ProviderSpec,
};

use crate::Env;
use crate::backend_choice::fields_of;
use crate::error::AppError;
use crate::git_identity::add_git_identity;
use crate::{ModelName, ModelsFile, format_key_places, trust_warnings};

/// A provider that needs no file.
struct BuiltInProvider {
    name: &'static str,
    /// The variables of its key. The first one that is set counts.
    variables: &'static [&'static str],
    spec: fn(KeySource) -> Arc<dyn ProviderSpec>,
}

const BUILT_IN: [BuiltInProvider; 3] = [
    BuiltInProvider {
        name: "anthropic",
        variables: &["ANTHROPIC_API_KEY"],
        spec: |key| {
            let mut spec = AnthropicSpec::default();
            spec.key = key;
            Arc::new(spec)
        },
    },
    BuiltInProvider {
        name: "google",
        variables: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        spec: |key| {
            let mut spec = GoogleSpec::default();
            spec.key = key;
            Arc::new(spec)
        },
    },
    BuiltInProvider {
        name: "openai",
        variables: &["OPENAI_API_KEY"],
        spec: |key| {
            let mut spec = OpenAiSpec::default();
            spec.key = key;
            Arc::new(spec)
        },
    },
];

/// Agents on a model, as the command line and the project file describe them.
#[derive(Clone, Debug)]
pub struct ChosenModel {
    pub backend: ModelSpec,
    pub origin: Origin,
    /// The file with the settings of tools, if there is one.
    settings: Option<PathBuf>,
    /// Keys of other services, which commands must not see either.
    withheld: KeyLocations,
}

/// Source of a provider's description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    CommandLine,
    File(PathBuf),
}

/// Error of finding a model.
#[derive(Debug)]
pub enum FindModelError {
    /// The file is invalid.
    File(ConfigError),
    /// The provider is not described anywhere; `known` lists the others.
    Unknown {
        provider: String,
        known: Vec<String>,
    },
}

impl ChosenModel {
    /// Finds the provider in `file`, which is at `path`, or among the built-in ones.
    pub(crate) fn find(
        name: &ModelName,
        model: Option<&str>,
        path: Option<PathBuf>,
        file: &ModelsFile,
        env: &Env,
    ) -> Result<Self, FindModelError> {
        let settings = path.clone();
        let (provider, origin) = match (file.providers.get(&name.provider), path) {
            (Some(provider), Some(path)) => (provider.clone(), Origin::File(path)),
            _ => match built_in(&name.provider, env) {
                Some(provider) => (provider, Origin::BuiltIn),
                None => {
                    return Err(FindModelError::Unknown {
                        provider: name.provider.clone(),
                        known: provider_names(file),
                    });
                }
            },
        };
        let mut backend = ModelSpec::new(provider, model.unwrap_or(&name.model));
        backend.name = Some(name.provider.clone());
        backend.prices = file.prices.clone();
        backend.limits = file.limits.clone();
        backend.retry = file.retry;
        backend.max_rounds = file.max_rounds;
        backend.tools = file.tools.clone();
        backend.trust = file.trust.clone();
        Ok(Self {
            backend,
            origin,
            settings,
            withheld: file.telemetry.keys(),
        })
    }

    /// Creates it from a spec at `origin`, if the spec is about agents on a model.
    pub fn from_spec(spec: &dyn BackendSpec, model: Option<&str>, origin: Origin) -> Option<Self> {
        if spec.typetag_name() != ModelSpec::TAG {
            return None;
        }
        let mut backend: ModelSpec = serde_json::from_value(fields_of(spec)).ok()?;
        backend.model = model.unwrap_or(&backend.model).to_owned();
        let settings = match &origin {
            Origin::File(path) => Some(path.clone()),
            Origin::BuiltIn | Origin::CommandLine => None,
        };
        Some(Self {
            backend,
            origin,
            settings,
            withheld: KeyLocations::default(),
        })
    }

    /// Withholds further keys from commands.
    pub fn withhold(mut self, keys: KeyLocations) -> Self {
        self.withheld = keys;
        self
    }

    /// Prepares the options, including the key. No request is sent.
    pub fn options(&self, root: &Path, env: &Env) -> Result<ModelAgentOptions, ModelError> {
        self.check_keys()?;
        let mut options = self.backend.options(&context(root, env))?;
        let place = ProviderContext::new("telemetry")
            .with_environment(env.environment.clone())
            .with_folder(root);
        self.withheld.withhold_from(&mut options, &place);
        Ok(options)
    }

    /// Checks that no command gets a key of another service.
    fn check_keys(&self) -> Result<(), ModelError> {
        let variables = &self.backend.tools.variables;
        match variables.intersection(&self.withheld.variables).next() {
            None => Ok(()),
            Some(name) => {
                let message = format!(
                    "the variable {name} holds a telemetry key, which commands must not get"
                );
                let code = ModelErrorCode::ProviderNotConfigured;
                Err(ModelError::new(code, message))
            }
        }
    }

    /// Returns how MCP servers would be started. No key is required.
    pub fn servers(&self, root: &Path, env: &Env) -> McpOptions {
        self.backend.mcp(&context(root, env))
    }

    /// Returns a remedy if the options cannot be prepared.
    pub fn remedy(&self) -> String {
        match (&self.origin, find_built_in(self.backend.provider_name())) {
            (Origin::BuiltIn, Some(provider)) => format!(
                "set {}, or configure {} in .autonoe/models.json",
                provider.variables.join(" or "),
                provider.name
            ),
            _ => "see `autonoe schema models` and docs/guides/models.md".to_owned(),
        }
    }

    /// Returns a warning if the key goes to another address than expected.
    pub fn warning(&self) -> Option<String> {
        let name = self.backend.provider_name();
        let is_known = find_built_in(name).is_some();
        let Origin::File(path) = &self.origin else {
            return None;
        };
        let address = self.address();
        is_known.then(|| {
            format!(
                "{name} is configured in {}: its key is sent to {address}",
                path.display()
            )
        })
    }

    /// Returns warnings for the start of a run: what the project file sends to services, and what
    /// it gives to commands of agents.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::from_iter(self.warning());
        if let Origin::File(path) = &self.origin
            && let Some(keys) = format_key_places(&KeyLocations::from_spec(&*self.backend.provider))
        {
            let (name, address) = (self.backend.provider_name(), self.address());
            warnings.push(format!(
                "{name} receives {keys} at {address}, as configured in {}",
                path.display()
            ));
        }
        let settings = self.settings.as_deref();
        let tool_warnings =
            settings.map(|path| trust_warnings::tool_warnings(&self.backend.tools, path));
        warnings.extend(tool_warnings.into_iter().flatten());
        warnings
    }

    fn address(&self) -> String {
        let written = serde_json::to_value(&*self.backend.provider).unwrap_or_default();
        let address = written["baseUrl"].as_str();
        address.unwrap_or("an unknown address").to_owned()
    }
}

impl FindModelError {
    /// Converts it into an error for people.
    pub fn into_error(self) -> AppError {
        match self {
            Self::File(error) => error.into(),
            Self::Unknown { provider, known } => {
                let message = format!("unknown provider `{provider}`");
                AppError::failure(message).with_hint(Self::hint(&known))
            }
        }
    }

    pub fn hint(known: &[String]) -> String {
        format!(
            "known providers: {}; configure others in .autonoe/models.json",
            known.join(", ")
        )
    }
}

fn context(root: &Path, env: &Env) -> SpecContext {
    let mut environment = env.environment.clone();
    add_git_identity(&mut environment, root);
    SpecContext::new(ProjectPaths::new(root)).with_environment(environment)
}

/// Returns the variables of the keys of built-in providers.
pub(crate) fn built_in_keys() -> impl Iterator<Item = &'static str> {
    let variables = BUILT_IN.iter().map(|provider| provider.variables.iter());
    variables.flatten().copied()
}

fn find_built_in(name: &str) -> Option<&'static BuiltInProvider> {
    BUILT_IN.iter().find(|provider| provider.name == name)
}

/// Returns a built-in provider.
fn built_in(name: &str, env: &Env) -> Option<Arc<dyn ProviderSpec>> {
    let provider = find_built_in(name)?;
    let is_set = |name: &&&str| {
        let value = env.environment.get(OsStr::new(name));
        value.is_some_and(|value| !value.is_empty())
    };
    let variables = provider.variables;
    let variable = variables.iter().find(is_set).or(variables.first())?;
    Some((provider.spec)(KeySource::env(*variable)))
}

/// Returns the names of all providers.
fn provider_names(file: &ModelsFile) -> Vec<String> {
    let mut known: Vec<String> = BUILT_IN.iter().map(|it| it.name.to_owned()).collect();
    known.extend(file.providers.keys().cloned());
    known.sort();
    known.dedup();
    known
}
