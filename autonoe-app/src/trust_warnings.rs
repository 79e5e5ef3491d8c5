//! Warnings about project files that the operator should see before a run starts.

use std::collections::BTreeSet;
use std::path::Path;

use autonoe_core::gate::policy::Destructive;
use autonoe_core::project::EffectiveConfig;
use autonoe_model::backend::KeyLocations;
use autonoe_model::tools::{NetworkAccess, ToolsConfig};
use serde_json::Value;

/// Returns the warning for a run that may delete and move files of the project.
pub fn destructive_warning(destructive: Destructive) -> Option<&'static str> {
    match destructive {
        Destructive::Forbidden => None,
        Destructive::Allowed => Some(
            "--allow-destructive is on: agents can delete and move files in the project, and discard \
             commits with git",
        ),
    }
}

/// Returns warnings about the access of agents' commands to the machine, as the file at `path`
/// grants it.
pub(crate) fn tool_warnings(plan: &ToolsConfig, path: &Path) -> Vec<String> {
    let path = path.display();
    let mut warnings = Vec::new();
    if plan.network == NetworkAccess::Shared {
        warnings.push(format!(
            "commands of agents can use the network of this machine, as configured in {path}"
        ));
    }
    if let Some(names) = listed(&plan.variables) {
        warnings.push(format!(
            "commands of agents receive {names}, as configured in {path}"
        ));
    }
    warnings
}

/// Returns a warning for each variable with credentials that the configuration allows.
pub(crate) fn environment_warnings(config: &EffectiveConfig) -> impl Iterator<Item = String> {
    let lines = config.explain().iter();
    let allowed = lines.filter(|line| line.key == "environment.allow");
    allowed.map(|line| {
        let (name, source) = (&line.value, &line.source);
        format!("agents get the variable {name} from your environment ({source})")
    })
}

/// Returns warnings about the backend that the file at `place` configures, with all of its fields:
/// programs that are started, services that receive keys, folders that are writable.
pub(crate) fn backend_warnings(tag: &str, written: &Value, place: &str) -> Vec<String> {
    let mut warnings = vec![format!(
        "agents run on the backend {tag}, as configured in {place}"
    )];
    let fields = written
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| *name != "type");
    warnings.extend(fields.map(|(name, value)| {
        let value = redact_secrets(value.clone());
        format!("{tag} uses {name} {value}, as configured in {place}")
    }));
    warnings
}

/// Redacts the values of environments and headers.
fn redact_secrets(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let is_secret = matches!(name.as_str(), "env" | "headers") && value.is_object();
                *value = match value.as_object_mut() {
                    Some(entries) if is_secret => {
                        entries.values_mut().for_each(|it| *it = "...".into());
                        value.take()
                    }
                    _ => redact_secrets(value.take()),
                };
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = redact_secrets(item.take());
            }
        }
        _ => {}
    }
    value
}

/// Formats the variables and files whose content is sent to a service; `None` if there are none.
pub fn format_key_places(places: &KeyLocations) -> Option<String> {
    let files: Vec<_> = places
        .files
        .iter()
        .map(|file| file.display().to_string())
        .collect();
    let files = match files.len() {
        0 => None,
        1 => Some(format!("the file {}", files.concat())),
        _ => Some(format!("the files {}", files.join(", "))),
    };
    let all: Vec<_> = listed(&places.variables).into_iter().chain(files).collect();
    (!all.is_empty()).then(|| all.join(" and "))
}

fn listed(variables: &BTreeSet<String>) -> Option<String> {
    let names: Vec<_> = variables.iter().map(String::as_str).collect();
    match names.len() {
        0 => None,
        1 => Some(format!("the variable {}", names.concat())),
        _ => Some(format!("the variables {}", names.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use autonoe_core::Mode;
    use autonoe_core::project::{AgentConfig, SandboxSwitch};
    use serde_json::json;

    use super::*;

    #[test]
    fn only_access_of_commands_is_reported() {
        for (plan, expected) in [
            (json!({}), &[][..]),
            (json!({"limits": {"results": 3}}), &[]),
            (
                json!({"network": "shared"}),
                &[
                    "commands of agents can use the network of this machine, as configured in \
                   models.json",
                ],
            ),
            (
                json!({"variables": ["B", "A"]}),
                &["commands of agents receive the variables A, B, as configured in models.json"],
            ),
        ] {
            let plan: ToolsConfig = serde_json::from_value(plan).expect("a plan");
            assert_eq!(tool_warnings(&plan, Path::new("models.json")), expected);
        }
    }

    #[test]
    fn variables_that_the_configuration_allows_are_reported() {
        let text = r#"{
            "environment": {"allow": ["NPM_TOKEN", "AWS_*"]}
        }"#;
        let config = AgentConfig::parse(text, Path::new("agent.json")).expect("a configuration");
        let config = EffectiveConfig::merge(Some(config), Mode::Run, SandboxSwitch::default());

        let warnings = Vec::from_iter(environment_warnings(&config.expect("it is valid")));

        let expected = [
            "agents get the variable NPM_TOKEN from your environment (agent.json:2)",
            "agents get the variable AWS_* from your environment (agent.json:2)",
        ];
        assert_eq!(warnings, expected);
    }

    #[test]
    fn all_fields_of_a_backend_are_reported_without_secrets() {
        for (written, expected) in [
            (
                json!("codex"),
                &["agents run on the backend codex, as configured in a.json:2"][..],
            ),
            (
                json!({"type": "codex", "program": "/opt/x", "mcpServers": {
                    "s": {"command": "y", "env": {"KEY": "sk-1"}},
                }}),
                &[
                    "agents run on the backend codex, as configured in a.json:2",
                    "codex uses mcpServers {\"s\":{\"command\":\"y\",\"env\":{\"KEY\":\"...\"}}}, \
                     as configured in a.json:2",
                    "codex uses program \"/opt/x\", as configured in a.json:2",
                ],
            ),
        ] {
            let mut warnings = backend_warnings("codex", &written, "a.json:2");
            warnings.sort();
            assert_eq!(warnings, expected);
        }
    }

    #[test]
    fn variables_and_files_are_named() {
        for (written, expected) in [
            (json!({}), None),
            (json!({"a": {"env": "A"}}), Some("the variable A")),
            (
                json!([{"env": "A"}, {"env": "B"}, {"file": "/c"}]),
                Some("the variables A, B and the file /c"),
            ),
        ] {
            let listed = format_key_places(&KeyLocations::from_json(&written));
            assert_eq!(listed.as_deref(), expected);
        }
    }
}
