//! [`ModelsFile`]: loads and validates `models.json`: providers, prices, limits, tools, telemetry.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::Project;
use autonoe_core::project::config_parts::read_spec;
use autonoe_core::project::{ConfigError, ConfigFile};
use autonoe_core::spec::spec_schema;
use autonoe_model::agent::LimitTable;
use autonoe_model::backend::KeyLocations;
use autonoe_model::provider::{HeaderSource, PROVIDER_PORT};
use autonoe_model::tools::ToolsConfig;
use autonoe_model::transport::Trust;
use autonoe_model::{ModelAgentOptions, PriceTable, ProviderSpec, RetryPolicy};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::{Deserializer, Error};
use serde_json::Value;

use crate::literal_keys::reject_literal_key;
use crate::telemetry::TelemetrySection;

/// Providers of models, prices, limits and settings of agents on models: `.autonoe/models.json`.
///
/// All fields are optional. The file contains no keys; a provider names the location of its key.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ModelsFile {
    /// The schema of this file, for editors. Autonoe ignores it.
    #[serde(rename = "$schema", default)]
    #[expect(dead_code, reason = "only editors look at it")]
    schema: String,
    /// Providers by name, for `--backend model:NAME/MODEL`.
    #[serde(default, deserialize_with = "providers")]
    #[schemars(schema_with = "providers_schema")]
    pub providers: BTreeMap<String, Arc<dyn ProviderSpec>>,
    /// Prices of models, in addition to the built-in ones.
    #[serde(default)]
    pub prices: PriceTable,
    /// Context and output limits of models, in addition to the built-in ones.
    #[serde(default)]
    pub limits: LimitTable,
    /// Retry policy for failed calls.
    #[serde(default)]
    pub retry: RetryPolicy,
    /// Maximum number of answers in a session.
    #[serde(default = "max_rounds")]
    #[schemars(range(min = 1))]
    pub max_rounds: u32,
    /// Settings of the built-in tools.
    #[serde(default)]
    pub tools: ToolsConfig,
    /// Certificate authorities for encrypted connections, unless a provider sets its own.
    #[serde(default)]
    pub trust: Trust,
    /// Destination of traces and metrics of runs, for all backends.
    #[serde(default)]
    pub telemetry: TelemetrySection,
}

fn max_rounds() -> u32 {
    ModelAgentOptions::MAX_ROUNDS
}

fn providers_schema(generator: &mut SchemaGenerator) -> Schema {
    let provider = spec_schema(PROVIDER_PORT, generator).to_value();
    let schema = serde_json::json!({"type": "object", "additionalProperties": provider});
    Schema::try_from(schema).unwrap_or_default()
}

impl Default for ModelsFile {
    fn default() -> Self {
        Self {
            schema: String::new(),
            providers: BTreeMap::new(),
            prices: PriceTable::default(),
            limits: LimitTable::default(),
            retry: RetryPolicy::default(),
            max_rounds: max_rounds(),
            tools: ToolsConfig::default(),
            trust: Trust::default(),
            telemetry: TelemetrySection::default(),
        }
    }
}

impl ModelsFile {
    /// Returns the path of the file of a project.
    pub fn path(project: &Project) -> PathBuf {
        project.state_dir().join("models.json")
    }

    /// Reads the file of a project. Returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// The file is invalid, contains a key, or refers to a key that agents could read.
    pub fn load(project: &Project) -> Result<Option<Self>, ConfigError> {
        let Some(file) = ConfigFile::load(Self::path(project))? else {
            return Ok(None);
        };
        let read = Self::read(&file)?;
        check_key_locations(&file, &read.telemetry, project.root())?;
        Ok(Some(read))
    }

    fn read(file: &ConfigFile) -> Result<Self, ConfigError> {
        // First, because the messages of other errors can repeat values.
        reject_literal_key(file, "/telemetry")?;
        for name in file.names("/providers")? {
            reject_literal_key(file, &ConfigFile::below("/providers", name))?;
        }
        let models: Self = file.read("")?.unwrap_or_default();
        if let Some(name) = models.providers.keys().find(|name| !is_selectable(name)) {
            return Err(file.problem(
                &ConfigFile::below("/providers", name),
                "--backend cannot select a provider with this name",
                "use a name without slashes and spaces".to_owned(),
            ));
        }
        if models.retry.tries == 0 {
            return Err(file.problem("/retry/tries", "it must be at least 1", None));
        }
        if models.max_rounds == 0 {
            let hint = "remove the field to use the default, 50".to_owned();
            return Err(file.problem("/maxRounds", "it must be at least 1", hint));
        }
        Ok(models)
    }
}

/// Returns whether `--backend model:NAME/MODEL` can select a provider with this name.
fn is_selectable(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c == '/' || c.is_whitespace())
}

/// Reads the providers. Specs are trait objects, whose errors have no position, so each one is read
/// with [`read_spec`].
fn providers<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, Arc<dyn ProviderSpec>>, D::Error> {
    struct Provider(Arc<dyn ProviderSpec>);

    impl<'de> Deserialize<'de> for Provider {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            let value = Value::deserialize(from)?;
            let spec = read_spec(PROVIDER_PORT, &value);
            spec.map(Self).map_err(D::Error::custom)
        }
    }

    let providers = BTreeMap::<String, Provider>::deserialize(from)?;
    let specs = providers
        .into_iter()
        .map(|(name, Provider(spec))| (name, spec));
    Ok(specs.collect())
}

/// Checks that the keys of telemetry are not in files that agents could read.
fn check_key_locations(
    file: &ConfigFile,
    section: &TelemetrySection,
    root: &Path,
) -> Result<(), ConfigError> {
    let is_here = |source: &HeaderSource| {
        let written = serde_json::to_value(source).unwrap_or_default();
        KeyLocations::from_json(&written)
            .in_directory(root)
            .is_some()
    };
    let mut headers = section.headers.iter();
    match headers.find(|(_, source)| is_here(source)) {
        None => Ok(()),
        Some((name, _)) => {
            let pointer = ConfigFile::below("/telemetry/headers", name);
            let hint = "move the file with the key out of the project".to_owned();
            Err(file.problem(
                &pointer,
                "the key is in the project, where agents can read it",
                hint,
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::spec::registered_specs;
    use autonoe_model::transport::SystemAuthorities;

    use super::*;

    fn read(text: &str) -> Result<ModelsFile, String> {
        let file = ConfigFile::parse(text, Path::new("models.json"));
        let read = file.and_then(|file| ModelsFile::read(&file));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn empty_models_file_has_the_defaults() {
        let file = read("{}").expect("it is empty");

        assert!(file.providers.is_empty());
        assert_eq!(file.max_rounds, 50);
        assert_eq!(file.retry, RetryPolicy::default());
    }

    // Shows: framework/models/app-config
    #[test]
    fn parses_fields_of_models_file() {
        let text = r#"{
            "$schema": "models.json",
            "providers": {"local": {"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"}},
            "prices": {"local/small": {"input": "0.1", "output": "0.2"}},
            "limits": {"small": {"context": 32000, "output": 4000}},
            "retry": {"tries": 5}, "maxRounds": 9,
            "telemetry": {"endpoint": "http://localhost:4318", "content": true},
            "trust": {"files": ["/etc/company/authority.pem"], "system": "ignored"},
            "tools": {"network": "shared", "limits": {"commandTimeMs": 1000}}
        }"#;

        let file = read(text).expect("it is sound");

        assert_eq!(Vec::from_iter(file.providers.keys()), ["local"]);
        assert_eq!((file.retry.tries, file.max_rounds), (5, 9));
        let prices = serde_json::to_value(&file.prices).expect("it serialises");
        assert_eq!(prices["local/small"]["input"], "0.1");
        assert_eq!(file.limits.for_model("small").context, 32_000);
        let telemetry = TelemetrySection {
            endpoint: Some("http://localhost:4318".to_owned()),
            content: true,
            ..TelemetrySection::default()
        };
        assert_eq!(file.telemetry, telemetry);
        let trust = Trust {
            system: SystemAuthorities::Ignored,
            files: vec!["/etc/company/authority.pem".into()],
            pem: None,
        };
        assert_eq!(file.trust, trust);
        assert_eq!(file.tools.limits.command_time.as_millis(), 1000);
    }

    /// A file as version 0.1 reads it. It is never written again.
    #[test]
    fn a_file_of_version_1_is_read() {
        let file = read(include_str!("../tests/compat/v1/models.json")).expect("it is valid");

        let names = Vec::from_iter(file.providers.keys());
        assert_eq!(names, ["gateway", "local", "router"]);
        let gateway = serde_json::to_value(&file.providers["gateway"]).expect("it serialises");
        assert_eq!(gateway["type"], "anthropic");
        assert_eq!(gateway["baseUrl"], "https://llm.example.com");
        assert_eq!(gateway["key"], serde_json::json!({"env": "GATEWAY_KEY"}));
        let prices = serde_json::to_value(&file.prices).expect("it serialises");
        assert_eq!(prices["router/acme/large"]["cacheRead"], "0.05");
        assert_eq!(file.limits.for_model("large").context, 256_000);
        assert_eq!(file.retry.tries, 5);
        assert_eq!(file.retry.max_retry_after_ms, 120_000);
        assert_eq!(file.max_rounds, 80);
        assert_eq!(file.tools.limits.command_time.as_secs(), 300);
    }

    // Shows: framework/models/app-config
    #[test]
    fn a_mistake_is_reported_with_its_line_its_field_and_the_remedy() {
        for (text, expected) in [
            (
                "{\n\"provider\": {}}",
                "models.json:2:1: /provider: unknown field `provider`; did you mean `providers`?",
            ),
            (
                r#"{"providers": {"a": {"key": "none"}}}"#,
                "models.json:1:21: /providers/a: the provider has no `type`; known are `anthropic`, \
                 `google`, `openai`, `openai-compatible`",
            ),
            (
                "{\"providers\": {\"a\": {\n\"type\": \"gpt\"}}}",
                "models.json:2:9: /providers/a/type: unknown provider `gpt`; known are `anthropic`, \
                 `google`, `openai`, `openai-compatible`",
            ),
            (
                "{\"providers\": {\"a\": {\"type\": \"openai\",\n\"baseURL\": \"http://x\"}}}",
                "models.json:2:1: /providers/a/baseURL: unknown field `baseURL`; did you mean `baseUrl`?",
            ),
            (
                "{\"providers\": {\"a\": {\"type\": \"openai\",\n\"key\": {\"value\": \"sk-1\"}}}}",
                "models.json:2:8: /providers/a/key: this file must not contain a key; put the key \
                 into an environment variable",
            ),
            (
                r#"{"providers": {"a/b": {"type": "openai"}}}"#,
                "/providers/a~1b: --backend cannot select a provider with this name; use a name \
                 without slashes",
            ),
            (
                "{\"prices\": {\"gpt\":\n{\"input\": \"1\"}}}",
                "models.json:2:1: /prices/gpt: the field `output` is missing",
            ),
            (
                r#"{"retry": {"tries": 0}}"#,
                "/retry/tries: it must be at least 1",
            ),
            (r#"{"maxRounds": 0}"#, "/maxRounds: it must be at least 1"),
            (
                r#"{"tools": {"network": "on"}}"#,
                "/tools/network: unknown name `on`; known are `off` and `shared`",
            ),
            (r#"{"telemetry": {"x": 1}}"#, "unknown field `x`"),
            (
                r#"{"trust": {"system": "no"}}"#,
                "/trust/system: unknown name `no`; known are `trusted` and `ignored`",
            ),
            (
                r#"{"telemetry": {"headers": {"a": {"value": "sk-1"}}}}"#,
                "/telemetry/headers/a: this file must not contain a key",
            ),
            (
                "{\"providers\": {\"a\": {\"type\": \"openai\", \"headers\": {\n\"x-api-key\": \"sk-1\"}}}}",
                "models.json:2:14: /providers/a/headers/x-api-key: this file must not contain a \
                 key",
            ),
        ] {
            let error = read(text).expect_err("it is wrong");
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("sk-1"), "{error}");
        }
    }

    #[test]
    fn the_registered_examples_of_providers_are_understood() {
        for spec in registered_specs(PROVIDER_PORT) {
            let text = serde_json::json!({"providers": {"one": (spec.example)()}}).to_string();
            read(&text).expect(spec.tag);
        }
    }
}
