//! Agents on a model: who serves it, and how.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{BackendSpec, ConfigError, Places, Project, SpecContext};
use autonoe_model::{
    AnthropicSpec, GoogleSpec, KeySource, McpOptions, ModelAgentOptions, ModelBackend, ModelError,
    OpenAiSpec, ProviderSpec,
};

use super::{ModelName, ModelsFile};
use crate::error::CliError;
use crate::surroundings::Surroundings;

/// Providers that need no file, and the variables that their keys are in.
const BUILT_IN: [(&str, &[&str]); 3] = [
    ("anthropic", &["ANTHROPIC_API_KEY"]),
    ("google", &["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
];

/// Agents on a model, as the command line and the file of the project describe them.
#[derive(Clone, Debug)]
pub(crate) struct ChosenModel {
    pub(crate) backend: ModelBackend,
    pub(crate) origin: Origin,
}

/// Where a provider is described.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    BuiltIn,
    CommandLine,
    File(PathBuf),
}

/// Why there is no such model.
#[derive(Debug)]
pub(crate) enum NoModel {
    /// The file is not understood.
    File(ConfigError),
    /// Nobody has described the provider; those that are known are.
    Unknown {
        provider: String,
        known: Vec<String>,
    },
}

impl ChosenModel {
    /// Finds the provider in the file of `project`, or among those that are built in.
    pub(crate) fn find(
        name: &ModelName,
        model: Option<&str>,
        project: Option<&Project>,
        surroundings: &Surroundings,
    ) -> Result<Self, NoModel> {
        let path = project.map(ModelsFile::path);
        let file = path.as_deref().map(ModelsFile::load);
        let file = file.transpose().map_err(NoModel::File)?.flatten();
        let file = file.unwrap_or_default();
        let (provider, origin) = match (file.providers.get(&name.provider), path) {
            (Some(provider), Some(path)) => (provider.clone(), Origin::File(path)),
            _ => match built_in(&name.provider, surroundings) {
                Some(provider) => (provider, Origin::BuiltIn),
                None => {
                    return Err(NoModel::Unknown {
                        provider: name.provider.clone(),
                        known: known(&file),
                    });
                }
            },
        };
        let mut backend = ModelBackend::new(provider, model.unwrap_or(&name.model));
        backend.name = Some(name.provider.clone());
        backend.prices = file.prices;
        backend.limits = file.limits;
        backend.retry = file.retry;
        backend.max_rounds = file.max_rounds;
        backend.tools = file.tools;
        backend.trust = file.trust;
        Ok(Self { backend, origin })
    }

    /// Takes what the JSON of a spec says, if it is about agents on a model.
    pub(crate) fn of_spec(spec: &dyn BackendSpec, model: Option<&str>) -> Option<Self> {
        let mut written = serde_json::to_value(spec).ok()?;
        let fields = written.as_object_mut()?;
        if fields.remove("type")? != ModelBackend::TAG {
            return None;
        }
        let mut backend: ModelBackend = serde_json::from_value(written).ok()?;
        backend.model = model.unwrap_or(&backend.model).to_owned();
        let origin = Origin::CommandLine;
        Some(Self { backend, origin })
    }

    /// Makes it ready, its key included. Nobody is asked anything.
    pub(crate) fn options(
        &self,
        root: &Path,
        surroundings: &Surroundings,
    ) -> Result<ModelAgentOptions, ModelError> {
        self.backend.options(&context(root, surroundings))
    }

    /// Says how MCP servers would be started. No key is needed for that.
    pub(crate) fn servers(&self, root: &Path, surroundings: &Surroundings) -> McpOptions {
        self.backend.mcp(&context(root, surroundings))
    }

    /// Returns what a person can do about it that it cannot be made ready.
    pub(crate) fn remedy(&self) -> String {
        let variables = BUILT_IN
            .iter()
            .find(|(name, _)| *name == self.backend.provider_name());
        match (&self.origin, variables) {
            (Origin::BuiltIn, Some((name, variables))) => format!(
                "set {}, or describe {name} in .autonoe/models.json",
                variables.join(" or ")
            ),
            _ => "see `autonoe schema models`, and docs/guides/models.md".to_owned(),
        }
    }

    /// Returns what a person should know: where the key goes if it is not where one expects.
    pub(crate) fn warning(&self) -> Option<String> {
        let name = self.backend.provider_name();
        let is_known = BUILT_IN.iter().any(|(known, _)| *known == name);
        let Origin::File(path) = &self.origin else {
            return None;
        };
        let address = serde_json::to_value(&*self.backend.provider).ok()?;
        let address = address["baseUrl"].as_str().unwrap_or("another place");
        is_known.then(|| {
            format!(
                "{name} is what {} describes: its key goes to {address}",
                path.display()
            )
        })
    }
}

impl NoModel {
    /// Says it to a person.
    pub(crate) fn into_error(self) -> CliError {
        match self {
            Self::File(error) => error.into(),
            Self::Unknown { provider, known } => {
                let message = format!("there is no provider `{provider}`");
                CliError::failure(message).with_hint(Self::hint(&known))
            }
        }
    }

    pub(crate) fn hint(known: &[String]) -> String {
        format!(
            "known are {}; describe others in .autonoe/models.json",
            known.join(", ")
        )
    }
}

fn context(root: &Path, surroundings: &Surroundings) -> SpecContext {
    let environment = surroundings.environment.clone();
    SpecContext::new(Places::new(root)).with_environment(environment)
}

/// Returns a provider that needs no file.
fn built_in(name: &str, surroundings: &Surroundings) -> Option<Arc<dyn ProviderSpec>> {
    let (_, variables) = BUILT_IN.iter().find(|(known, _)| *known == name)?;
    let is_set = |name: &&&str| {
        let value = surroundings.environment.get(OsStr::new(name));
        value.is_some_and(|value| !value.is_empty())
    };
    let variable = variables.iter().find(is_set).or(variables.first())?;
    let key = KeySource::env(*variable);
    Some(match name {
        "anthropic" => {
            let mut spec = AnthropicSpec::default();
            spec.key = key;
            Arc::new(spec)
        }
        "google" => {
            let mut spec = GoogleSpec::default();
            spec.key = key;
            Arc::new(spec)
        }
        _ => {
            let mut spec = OpenAiSpec::default();
            spec.key = key;
            Arc::new(spec)
        }
    })
}

/// Returns the names of all providers that there are.
fn known(file: &ModelsFile) -> Vec<String> {
    let mut known: Vec<String> = BUILT_IN.map(|(name, _)| name.to_owned()).into();
    known.extend(file.providers.keys().cloned());
    known.sort();
    known.dedup();
    known
}
