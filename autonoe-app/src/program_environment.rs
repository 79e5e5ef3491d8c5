//! Environment of a backend's program.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use autonoe_model::backend::KeyLocations;
use serde_json::Value;

use crate::Env;
use crate::ModelsFile;
use crate::flow_parts::KEY_VARIABLE;
use crate::known_backend::KnownBackend;
use crate::model::built_in_keys;

/// Keys of known services, beside those of built-in providers.
const KEYS: [&str; 4] = [
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CODEX_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
];

/// Returns the environment of a backend's program: all variables except the keys that Autonoe uses
/// for other services.
///
/// `spec` contains the fields of the backend. The keys in `models` belong to other services and to
/// telemetry; those of webhooks are for Autonoe alone. The backend withholds further credentials,
/// because only the backend knows which ones its program needs.
pub(crate) fn program_environment(
    tag: &str,
    spec: &Value,
    models: &ModelsFile,
    env: &Env,
) -> BTreeMap<OsString, OsString> {
    let mut environment = env.environment.clone();
    let withheld = withheld(tag, spec, models);
    environment.retain(|name, _| {
        let is_withheld = withheld.contains(&*name.to_string_lossy());
        !is_withheld && !is_autonoe_key(name)
    });
    environment
}

/// Returns whether the variable holds a key of a webhook or of telemetry.
pub(crate) fn is_autonoe_key(name: &OsStr) -> bool {
    name.to_string_lossy().starts_with(KEY_VARIABLE) || is_telemetry_header(name)
}

fn is_telemetry_header(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("OTEL_EXPORTER_OTLP") && name.ends_with("HEADERS")
}

/// Returns the variables with secrets that the export of telemetry needs.
pub fn telemetry_keys(models: &ModelsFile, env: &Env) -> BTreeMap<OsString, OsString> {
    let named = models.telemetry.keys().variables;
    let mut keys = env.environment.clone();
    keys.retain(|name, _| is_telemetry_header(name) || named.contains(&*name.to_string_lossy()));
    keys
}

/// Returns whether the variable holds the key of a known service that the backend does not use.
pub(crate) fn is_key_of_other_service(tag: &str, name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let is_known = built_in_keys().chain(KEYS).any(|known| known == name);
    is_known && key_variables(tag).is_some_and(|own| !own.contains(&&*name))
}

/// Returns the variables of keys that a backend does not get.
fn withheld(tag: &str, spec: &Value, models: &ModelsFile) -> BTreeSet<String> {
    // Agents on a model read their key from here. Their commands never see it.
    if tag == "model" {
        return BTreeSet::new();
    }
    let mut withheld = BTreeSet::new();
    let providers = models
        .providers
        .values()
        .map(|it| KeyLocations::from_spec(&**it));
    for places in providers {
        let others = places.variables.into_iter();
        withheld.extend(others.filter(|name| !is_own(tag, name)));
    }
    withheld.extend(models.telemetry.keys().variables);
    if let Some(key) = spec["provider"]["keyVariable"].as_str() {
        withheld.remove(key);
    }
    withheld
}

fn is_own(tag: &str, name: &str) -> bool {
    let known = built_in_keys().chain(KEYS).any(|known| known == name);
    match key_variables(tag) {
        Some(own) => own.contains(&name),
        // The service that the agent uses is unknown.
        None => known,
    }
}

/// Returns the variables with the keys of a backend, if they are known.
fn key_variables(tag: &str) -> Option<&'static [&'static str]> {
    KnownBackend::from_tag(tag)?.key_variables()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use serde_json::json;

    use super::*;

    const VARIABLES: [&str; 7] = [
        "PATH",
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "GITHUB_TOKEN",
        "TEAM_KEY",
        "AUTONOE_SIGNING_KEY_OPS",
        "OTEL_EXPORTER_OTLP_HEADERS",
    ];

    fn variables_of(tag: &str, spec: &Value) -> Vec<String> {
        let mut models = ModelsFile::default();
        for (name, key) in [("team", "TEAM_KEY"), ("openai", "OPENAI_API_KEY")] {
            let provider = json!({"type": "openai", "key": {"env": key}});
            let provider = autonoe_model::provider::provider_spec(&provider).expect("a provider");
            models.providers.insert(name.to_owned(), provider.into());
        }
        let env = Env {
            working_dir: PathBuf::from("/"),
            environment: VARIABLES.map(|name| (name.into(), "x".into())).into(),
        };
        let environment = program_environment(tag, spec, &models, &env);
        let names = environment
            .into_keys()
            .map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name != "PATH").collect()
    }

    #[test]
    fn a_program_does_not_get_the_keys_that_autonoe_uses_for_something_else() {
        for (tag, spec, expected) in [
            (
                "claude",
                json!({}),
                &["ANTHROPIC_API_KEY", "GITHUB_TOKEN"][..],
            ),
            (
                "codex",
                json!({}),
                &["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY"],
            ),
            (
                "codex",
                json!({"provider": {"baseUrl": "http://x/v1", "keyVariable": "TEAM_KEY"}}),
                &[
                    "ANTHROPIC_API_KEY",
                    "GITHUB_TOKEN",
                    "OPENAI_API_KEY",
                    "TEAM_KEY",
                ],
            ),
            (
                "acp",
                json!({}),
                &["ANTHROPIC_API_KEY", "GITHUB_TOKEN", "OPENAI_API_KEY"],
            ),
        ] {
            assert_eq!(variables_of(tag, &spec), expected, "{tag}");
        }
    }
}
