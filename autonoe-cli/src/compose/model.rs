//! Agents on a model: who serves it, and how.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{BackendSpec, ConfigError, Project, ProjectPaths, SpecContext};
use autonoe_model::{
    AnthropicSpec, GoogleSpec, KeyPlaces, KeySource, McpOptions, ModelAgentOptions, ModelBackend,
    ModelError, ModelErrorCode, OpenAiSpec, ProviderContext, ProviderSpec,
};

use super::backend_choice::fields_of;
use super::git_identity::add_git_identity;
use super::{ModelName, ModelsFile, announced, listed_keys};
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
    /// The file that says what holds for tools, if one does.
    settings: Option<PathBuf>,
    /// Keys of others than the provider, which no command may see either.
    withheld: KeyPlaces,
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
        let file = project.map(ModelsFile::load);
        let file = file.transpose().map_err(NoModel::File)?.flatten();
        let file = file.unwrap_or_default();
        let settings = path.clone();
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
        Ok(Self {
            backend,
            origin,
            settings,
            withheld: file.telemetry.keys(),
        })
    }

    /// Takes what a spec says that is written at `origin`, if it is about agents on a model.
    pub(crate) fn of_spec(
        spec: &dyn BackendSpec,
        model: Option<&str>,
        origin: Origin,
    ) -> Option<Self> {
        if spec.typetag_name() != ModelBackend::TAG {
            return None;
        }
        let mut backend: ModelBackend = serde_json::from_value(fields_of(spec)).ok()?;
        backend.model = model.unwrap_or(&backend.model).to_owned();
        let settings = match &origin {
            Origin::File(path) => Some(path.clone()),
            Origin::BuiltIn | Origin::CommandLine => None,
        };
        Some(Self {
            backend,
            origin,
            settings,
            withheld: KeyPlaces::default(),
        })
    }

    /// Keeps further keys from commands.
    pub(crate) fn withhold(mut self, keys: KeyPlaces) -> Self {
        self.withheld = keys;
        self
    }

    /// Makes it ready, its key included. Nobody is asked anything.
    pub(crate) fn options(
        &self,
        root: &Path,
        surroundings: &Surroundings,
    ) -> Result<ModelAgentOptions, ModelError> {
        self.check_keys()?;
        let mut options = self.backend.options(&context(root, surroundings))?;
        let place = ProviderContext::new("telemetry")
            .with_environment(surroundings.environment.clone())
            .with_folder(root);
        self.withheld.withhold_from(&mut options, &place);
        Ok(options)
    }

    /// Looks that no command gets a key of others.
    fn check_keys(&self) -> Result<(), ModelError> {
        let variables = &self.backend.tools.variables;
        match variables.intersection(&self.withheld.variables).next() {
            None => Ok(()),
            Some(name) => {
                let message =
                    format!("the variable {name} has a key of telemetry, which no command may see");
                let code = ModelErrorCode::ProviderNotConfigured;
                Err(ModelError::new(code, message))
            }
        }
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
        let address = self.address();
        is_known.then(|| {
            format!(
                "{name} is what {} describes: its key goes to {address}",
                path.display()
            )
        })
    }

    /// Returns what is said before a run begins: what the file of the project sends away, and
    /// what it gives to commands of agents.
    pub(crate) fn announced(&self) -> Vec<String> {
        let mut announced = Vec::from_iter(self.warning());
        if let Origin::File(path) = &self.origin
            && let Some(keys) = listed_keys(&KeyPlaces::of(&*self.backend.provider))
        {
            let (name, address) = (self.backend.provider_name(), self.address());
            announced.push(format!(
                "{name} gets {keys} at {address}, as {} says",
                path.display()
            ));
        }
        let settings = self.settings.as_deref();
        let of_tools = settings.map(|path| announced::of_tools(&self.backend.tools, path));
        announced.extend(of_tools.into_iter().flatten());
        announced
    }

    fn address(&self) -> String {
        let written = serde_json::to_value(&*self.backend.provider).unwrap_or_default();
        let address = written["baseUrl"].as_str();
        address.unwrap_or("another place").to_owned()
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
    let mut environment = surroundings.environment.clone();
    add_git_identity(&mut environment, root);
    SpecContext::new(ProjectPaths::new(root)).with_environment(environment)
}

/// Returns the variables in which keys of providers are that need no file.
pub(super) fn built_in_keys() -> impl Iterator<Item = &'static str> {
    let variables = BUILT_IN.iter().map(|(_, variables)| variables.iter());
    variables.flatten().copied()
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
