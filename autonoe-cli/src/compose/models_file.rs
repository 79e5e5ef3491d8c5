//! The file `.autonoe/models.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autonoe_core::{ConfigError, ConfigFile, Project, registered_specs, spec_schema};
use autonoe_model::{
    HeaderSource, KeyPlaces, LimitTable, ModelAgentOptions, PROVIDER_PORT, PriceTable,
    ProviderSpec, RetryPolicy, ToolPlan, Trust,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use super::written_keys::no_key;
use crate::telemetry::TelemetrySection;

const FIELDS: &[&str] = &[
    "$schema",
    "providers",
    "prices",
    "limits",
    "retry",
    "maxRounds",
    "tools",
    "trust",
    "telemetry",
];

/// Which models there are, what they cost, and what holds for agents on them:
/// `.autonoe/models.json`.
///
/// Everything can be left out. Keys do not stand here; a provider names where its key is.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct ModelsFile {
    /// The schema of this file, for editors. It is not looked at.
    #[schemars(rename = "$schema", default)]
    #[expect(dead_code, reason = "only editors look at it")]
    schema: String,
    /// Providers by name, which `--backend model:NAME/MODEL` takes.
    #[schemars(default, schema_with = "providers_schema")]
    pub(crate) providers: BTreeMap<String, Arc<dyn ProviderSpec>>,
    /// What models cost, beside the prices that are built in.
    #[schemars(default)]
    pub(crate) prices: PriceTable,
    /// How much models can read and write, beside the limits that are built in.
    #[schemars(default)]
    pub(crate) limits: LimitTable,
    /// When a call that failed is made again.
    #[schemars(default)]
    pub(crate) retry: RetryPolicy,
    /// How many answers a session may take.
    #[schemars(default = "max_rounds", range(min = 1))]
    pub(crate) max_rounds: u32,
    /// What holds for the built-in tools.
    #[schemars(default)]
    pub(crate) tools: ToolPlan,
    /// Whom encrypted connections trust, unless a provider says so itself.
    #[schemars(default)]
    pub(crate) trust: Trust,
    /// Where traces and metrics of runs go, whatever the backend.
    #[schemars(default)]
    pub(crate) telemetry: TelemetrySection,
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
            tools: ToolPlan::default(),
            trust: Trust::default(),
            telemetry: TelemetrySection::default(),
        }
    }
}

impl ModelsFile {
    /// Returns where the file of a project is.
    pub(crate) fn path(project: &Project) -> PathBuf {
        project.state_dir().join("models.json")
    }

    /// Reads the file of a project, or returns `None` if there is none.
    ///
    /// # Errors
    ///
    /// Something in it is not understood, or is a key, or is in reach of agents and should not be.
    pub(crate) fn load(project: &Project) -> Result<Option<Self>, ConfigError> {
        let Some(file) = ConfigFile::load(Self::path(project))? else {
            return Ok(None);
        };
        let read = Self::read(&file)?;
        keys_elsewhere(&file, &read.telemetry, project.root())?;
        Ok(Some(read))
    }

    fn read(file: &ConfigFile) -> Result<Self, ConfigError> {
        file.expect_only("", FIELDS)?;
        let retry: RetryPolicy = file.read("/retry")?.unwrap_or_default();
        if retry.tries == 0 {
            return Err(file.problem("/retry/tries", "a call is made at least once", None));
        }
        let max_rounds = file.read("/maxRounds")?.unwrap_or_else(max_rounds);
        if max_rounds == 0 {
            let hint = "leave the field out for 50".to_owned();
            return Err(file.problem("/maxRounds", "0 leaves no answer", hint));
        }
        no_key(file, "/telemetry")?;
        Ok(Self {
            schema: file.read("/$schema")?.unwrap_or_default(),
            providers: providers(file)?,
            prices: file.read("/prices")?.unwrap_or_default(),
            limits: file.read("/limits")?.unwrap_or_default(),
            retry,
            max_rounds,
            tools: file.read("/tools")?.unwrap_or_default(),
            trust: file.read("/trust")?.unwrap_or_default(),
            telemetry: file.read("/telemetry")?.unwrap_or_default(),
        })
    }
}

fn providers(file: &ConfigFile) -> Result<BTreeMap<String, Arc<dyn ProviderSpec>>, ConfigError> {
    let mut providers = BTreeMap::new();
    for name in file.names("/providers")? {
        let pointer = ConfigFile::below("/providers", name);
        if name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace()) {
            let hint = "a name has no slash and no blank".to_owned();
            return Err(file.problem(&pointer, "nobody could name it in --backend", hint));
        }
        check_type(file, &pointer)?;
        no_key(file, &pointer)?;
        if let Some(provider) = file.read(&pointer)? {
            providers.insert(name.to_owned(), provider);
        }
    }
    Ok(providers)
}

/// Checks that the type of a provider is known.
fn check_type(file: &ConfigFile, pointer: &str) -> Result<(), ConfigError> {
    let known: Vec<_> = registered_specs(PROVIDER_PORT)
        .iter()
        .map(|spec| spec.tag)
        .collect();
    let hint = format!("known are {}", known.join(", "));
    if !file.names(pointer)?.contains(&"type") {
        return Err(file.problem(pointer, "the provider has no `type`", hint));
    }
    let place = ConfigFile::below(pointer, "type");
    let tag: Option<String> = file.read(&place)?;
    match tag {
        Some(tag) if known.contains(&tag.as_str()) => Ok(()),
        tag => {
            let tag = tag.unwrap_or_default();
            Err(file.problem(
                &place,
                format!("there is no provider of type `{tag}`"),
                hint,
            ))
        }
    }
}

/// Checks that the keys of telemetry are in no file that agents could read.
fn keys_elsewhere(
    file: &ConfigFile,
    section: &TelemetrySection,
    root: &Path,
) -> Result<(), ConfigError> {
    let is_here = |source: &HeaderSource| {
        let written = serde_json::to_value(source).unwrap_or_default();
        KeyPlaces::in_json(&written).in_directory(root).is_some()
    };
    let mut headers = section.headers.iter();
    match headers.find(|(_, source)| is_here(source)) {
        None => Ok(()),
        Some((name, _)) => {
            let pointer = ConfigFile::below("/telemetry/headers", name);
            let hint = "move it elsewhere".to_owned();
            Err(file.problem(
                &pointer,
                "the key is in the project, where agents work",
                hint,
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use autonoe_model::SystemAuthorities;

    use super::*;

    fn read(text: &str) -> Result<ModelsFile, String> {
        let file = ConfigFile::parse(text, Path::new("models.json"));
        let read = file.and_then(|file| ModelsFile::read(&file));
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn everything_can_be_left_out() {
        let file = read("{}").expect("it is empty");

        assert!(file.providers.is_empty());
        assert_eq!(file.max_rounds, 50);
        assert_eq!(file.retry, RetryPolicy::default());
    }

    // Shows: framework/models/app-config
    #[test]
    fn what_the_file_says_is_read() {
        let text = r#"{
            "$schema": "models.json",
            "providers": {"local": {"type": "openai-compatible", "baseUrl": "http://127.0.0.1:1/v1"}},
            "prices": {"local/small": {"input": "0.1", "output": "0.2"}},
            "limits": {"small": {"context": 32000, "output": 4000}},
            "retry": {"tries": 5}, "maxRounds": 9, "telemetry": {},
            "trust": {"files": ["/etc/company/authority.pem"], "system": "ignored"},
            "tools": {"network": "shared", "limits": {"commandTimeMs": 1000}}
        }"#;

        let file = read(text).expect("it is sound");

        assert_eq!(Vec::from_iter(file.providers.keys()), ["local"]);
        assert_eq!((file.retry.tries, file.max_rounds), (5, 9));
        assert_eq!(file.limits.of("small").context, 32_000);
        let trust = Trust::default().with_file("/etc/company/authority.pem");
        assert_eq!(file.trust, trust.with_system(SystemAuthorities::Ignored));
        assert_eq!(file.tools.limits.command_time.as_millis(), 1000);
    }

    // Shows: framework/models/app-config
    #[test]
    fn a_mistake_is_told_with_its_line_its_field_and_what_to_do() {
        for (text, expected) in [
            (
                "{\n\"provider\": {}}",
                "models.json:2:1: /provider: unknown field `provider`; did you mean `providers`?",
            ),
            (
                r#"{"providers": {"a": {"key": "none"}}}"#,
                "models.json:1:21: /providers/a: the provider has no `type`; known are anthropic, \
                 google, openai, openai-compatible",
            ),
            (
                "{\"providers\": {\"a\": {\n\"type\": \"gpt\"}}}",
                "models.json:2:9: /providers/a/type: there is no provider of type `gpt`; known are \
                 anthropic, google, openai, openai-compatible",
            ),
            (
                "{\"providers\": {\"a\": {\"type\": \"openai\",\n\"baseURL\": \"http://x\"}}}",
                "models.json:2:1: /providers/a/baseURL: unknown field `baseURL`; known are",
            ),
            (
                "{\"providers\": {\"a\": {\"type\": \"openai\",\n\"key\": {\"value\": \"sk-1\"}}}}",
                "models.json:2:8: /providers/a/key: a key does not belong into this file; put it \
                 into a variable",
            ),
            (
                r#"{"providers": {"a/b": {"type": "openai"}}}"#,
                "/providers/a~1b: nobody could name it in --backend; a name has no slash",
            ),
            (
                "{\"prices\": {\"gpt\":\n{\"input\": \"1\"}}}",
                "models.json:2:1: /prices/gpt: the field `output` is missing",
            ),
            (
                r#"{"retry": {"tries": 0}}"#,
                "/retry/tries: a call is made at least once",
            ),
            (r#"{"maxRounds": 0}"#, "/maxRounds: 0 leaves no answer"),
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
                "/telemetry/headers/a: a key does not belong into this file",
            ),
            (
                "{\"providers\": {\"a\": {\"type\": \"openai\", \"headers\": {\n\"x-api-key\": \"sk-1\"}}}}",
                "models.json:2:14: /providers/a/headers/x-api-key: a key does not belong into this \
                 file",
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
