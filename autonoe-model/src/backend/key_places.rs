//! Where a provider has its keys.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde_json::Value;

use crate::provider::{KeySource, ProviderContext, ProviderSpec};
use crate::transport::Secret;

/// Where a provider has its keys: variables and files that no command may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyPlaces {
    pub(super) variables: BTreeSet<String>,
    pub(super) files: BTreeSet<PathBuf>,
}

impl KeyPlaces {
    /// Finds them in what the spec says: its [`KeySource`](crate::KeySource)s, wherever they
    /// stand. So a provider that a consumer adds is looked through too.
    pub(super) fn of(spec: &dyn ProviderSpec) -> Self {
        let mut places = Self::default();
        if let Ok(written) = serde_json::to_value(spec) {
            places.look_through(&written);
        }
        places
    }

    /// Returns the keys themselves, as far as they are there. That one is missing is said by
    /// whoever needs it.
    pub(super) fn keys(&self, place: &ProviderContext) -> Vec<Secret> {
        let variables = self.variables.iter().cloned().map(KeySource::Env);
        let files = self.files.iter().cloned().map(KeySource::File);
        variables
            .chain(files)
            .filter_map(|source| source.resolve(place).ok().flatten())
            .collect()
    }

    fn look_through(&mut self, value: &Value) {
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
                fields.values().for_each(|value| self.look_through(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.look_through(item)),
            _ => {}
        }
    }
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

        let places = KeyPlaces::of(&*spec);

        let expected = ["GATEWAY_KEY", "PROXY_LOGIN"].map(str::to_owned);
        assert_eq!(places.variables, expected.into());
        assert_eq!(places.files, [PathBuf::from("/etc/key")].into());
    }

    #[test]
    fn a_key_whose_place_is_left_out_is_found_too() {
        let spec = provider_spec(&json!({"type": "anthropic"})).expect("a spec");

        let places = KeyPlaces::of(&*spec);

        assert!(places.variables.contains("ANTHROPIC_API_KEY"), "{places:?}");
    }
}
