//! [`KeyLocations`]: variables and files that contain API keys.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;

use crate::agent::ModelAgentOptions;
use crate::provider::{KeySource, ProviderContext, ProviderSpec};
use crate::transport::Secret;

/// Variables and files that contain API keys and must be invisible to agents' commands.
///
/// ```
/// use autonoe_model::backend::KeyLocations;
/// use serde_json::json;
///
/// let places = KeyLocations::from_json(&json!({
///     "key": {"env": "TEAM_KEY"},
///     "headers": {"x-team": "blue", "x-gateway": {"file": "/etc/gateway-key"}},
/// }));
///
/// assert_eq!(Vec::from_iter(&places.variables), ["TEAM_KEY"]);
/// assert!(places.in_directory("/srv/project".as_ref()).is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyLocations {
    /// Names of environment variables.
    pub variables: BTreeSet<String>,
    /// Paths of files, as written in the configuration.
    pub files: BTreeSet<PathBuf>,
}

impl KeyLocations {
    /// Collects the key places of a provider from its serialized spec, which includes custom
    /// providers.
    pub fn from_spec(spec: &dyn ProviderSpec) -> Self {
        let written = serde_json::to_value(spec);
        written
            .map(|written| Self::from_json(&written))
            .unwrap_or_default()
    }

    /// Finds every [`KeySource`] in `written`, at any depth.
    pub fn from_json(written: &Value) -> Self {
        let mut places = Self::default();
        places.collect(written);
        places
    }

    /// Returns whether there are no places.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty() && self.files.is_empty()
    }

    /// Returns a file that is inside of `directory`, also through links. Relative paths start
    /// there.
    pub fn in_directory(&self, directory: &Path) -> Option<&Path> {
        let mut files = self.files.iter().map(PathBuf::as_path);
        files.find(|file| is_within(&directory.join(file), directory))
    }

    /// Returns the keys themselves, as far as they exist. A missing key is reported where it is
    /// needed.
    pub fn keys(&self, place: &ProviderContext) -> Vec<Secret> {
        let variables = self.variables.iter().cloned().map(KeySource::Env);
        let files = self.files.iter().cloned().map(KeySource::File);
        variables
            .chain(files)
            .filter_map(|source| source.resolve(place).ok().flatten())
            .collect()
    }

    /// Hides the keys from agents' commands and from MCP servers: neither gets a variable with a
    /// key, and the files are hidden in the sandbox.
    pub fn withhold_from(&self, options: &mut ModelAgentOptions, place: &ProviderContext) {
        let mut built_in = options.built_in.as_mut();
        for key in self.keys(place) {
            options.mcp.secrets.add(key.expose());
            if let Some(built_in) = &mut built_in {
                built_in.secrets.add(key.expose());
            }
        }
        if let Some(built_in) = built_in {
            let files = self.files.iter().filter_map(|file| place.resolve(file));
            // A missing file cannot be read.
            let real = files.filter_map(|file| file.canonicalize().ok());
            built_in.hidden.extend(real);
        }
        options.mcp.withhold_secrets();
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                if let Some((kind, Value::String(place))) = fields.iter().next()
                    && fields.len() == 1
                {
                    match kind.as_str() {
                        "env" => drop(self.variables.insert(place.clone())),
                        "file" => drop(self.files.insert(place.into())),
                        _ => {}
                    }
                }
                fields.values().for_each(|value| self.collect(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.collect(item)),
            _ => {}
        }
    }
}

/// Returns whether a file is inside of a directory, also through links.
pub(super) fn is_within(file: &Path, directory: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let has_parent_components = file.components().any(|part| part == Component::ParentDir);
    let is_below = file.starts_with(directory) && !has_parent_components;
    is_below || real(file).starts_with(real(directory))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::provider::provider_spec;

    #[test]
    fn every_key_of_a_provider_is_found() {
        let spec = provider_spec(&json!({
            "type": "openai-compatible",
            "baseUrl": "http://127.0.0.1:1/v1",
            "key": {"file": "/etc/key"},
            "headers": {"x-team": "blue", "x-key": {"env": "GATEWAY_KEY"}},
            "proxy": {"url": "http://127.0.0.1:2", "login": {"env": "PROXY_LOGIN"}},
        }))
        .expect("a spec");

        let places = KeyLocations::from_spec(&*spec);

        let expected = ["GATEWAY_KEY", "PROXY_LOGIN"].map(str::to_owned);
        assert_eq!(places.variables, expected.into());
        assert_eq!(places.files, [PathBuf::from("/etc/key")].into());
    }

    #[test]
    fn the_default_key_variable_is_found_too() {
        let spec = provider_spec(&json!({"type": "anthropic"})).expect("a spec");

        let places = KeyLocations::from_spec(&*spec);

        assert!(places.variables.contains("ANTHROPIC_API_KEY"), "{places:?}");
    }
}
