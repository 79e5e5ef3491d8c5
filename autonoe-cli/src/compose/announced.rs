//! What a file of a project does that a person should know before a run begins.

use std::collections::BTreeSet;
use std::path::Path;

use autonoe_core::{Destructive, EffectiveConfig};
use autonoe_model::{KeyPlaces, NetworkAccess, ToolPlan};
use serde_json::Value;

/// Returns the warning for a run that may delete and move files of the project.
pub(crate) fn destructive_warning(destructive: Destructive) -> Option<&'static str> {
    match destructive {
        Destructive::Forbidden => None,
        Destructive::Allowed => Some(
            "--allow-destructive is on: agents can delete and move files in the project, and discard \
             commits with git",
        ),
    }
}

/// Says what of the machine the commands of agents get, as the file at `path` wants it.
pub(super) fn of_tools(plan: &ToolPlan, path: &Path) -> Vec<String> {
    let path = path.display();
    let mut announced = Vec::new();
    if plan.network == NetworkAccess::Shared {
        announced.push(format!(
            "commands of agents have the network of this machine, as {path} says"
        ));
    }
    if let Some(names) = listed(&plan.variables) {
        announced.push(format!("commands of agents get {names}, as {path} says"));
    }
    announced
}

/// Returns a warning for each variable with credentials that the configuration allows.
pub(super) fn environment_warnings(config: &EffectiveConfig) -> impl Iterator<Item = String> {
    let lines = config.explain().iter();
    let allowed = lines.filter(|line| line.key == "environment.allow");
    allowed.map(|line| {
        let (name, source) = (&line.value, &line.source);
        format!("agents get the variable {name} from your environment ({source})")
    })
}

/// Says which backend the file at `place` names, and all that it says of it: programs that are
/// started, services that keys go to, folders that can be written.
pub(super) fn of_backend(tag: &str, written: &Value, place: &str) -> Vec<String> {
    let mut announced = vec![format!("agents are run by {tag}, as {place} says")];
    let fields = written.as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| *name != "type");
    announced.extend(fields.map(|(name, value)| {
        let value = without_secrets(value.clone());
        format!("{tag} has the {name} {value}, as {place} says")
    }));
    announced
}

/// Takes away what stands in environments and headers.
fn without_secrets(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let is_secret = matches!(name.as_str(), "env" | "headers") && value.is_object();
                *value = match value.as_object_mut() {
                    Some(entries) if is_secret => {
                        entries.values_mut().for_each(|it| *it = "...".into());
                        value.take()
                    }
                    _ => without_secrets(value.take()),
                };
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_secrets(item.take());
            }
        }
        _ => {}
    }
    value
}

/// Names the variables and files whose content is sent away; `None` if there are none.
pub(crate) fn listed_keys(places: &KeyPlaces) -> Option<String> {
    let files = places.files.iter().map(|file| file.display().to_string());
    let files: Vec<_> = files.collect();
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
    use autonoe_core::{AgentConfig, Mode, SandboxSwitch};
    use serde_json::json;

    use super::*;

    #[test]
    fn what_commands_get_is_said_and_nothing_else() {
        for (plan, expected) in [
            (json!({}), &[][..]),
            (json!({"limits": {"results": 3}}), &[]),
            (
                json!({"network": "shared"}),
                &["commands of agents have the network of this machine, as models.json says"],
            ),
            (
                json!({"variables": ["B", "A"]}),
                &["commands of agents get the variables A, B, as models.json says"],
            ),
        ] {
            let plan: ToolPlan = serde_json::from_value(plan).expect("a plan");
            assert_eq!(of_tools(&plan, Path::new("models.json")), expected);
        }
    }

    #[test]
    fn variables_that_the_configuration_allows_are_reported() {
        let text = r#"{
            "environment": {"allow": ["NPM_TOKEN", "AWS_*"]}
        }"#;
        let config = AgentConfig::parse(text, Path::new("agent.json")).expect("a configuration");
        let config = EffectiveConfig::merge(Some(config), Mode::Run, SandboxSwitch::default());

        let announced = Vec::from_iter(environment_warnings(&config.expect("it is valid")));

        let expected = [
            "agents get the variable NPM_TOKEN from your environment (agent.json:2)",
            "agents get the variable AWS_* from your environment (agent.json:2)",
        ];
        assert_eq!(announced, expected);
    }

    #[test]
    fn all_that_a_file_says_of_a_backend_is_told_but_its_secrets() {
        for (written, expected) in [
            (
                json!("codex"),
                &["agents are run by codex, as a.json:2 says"][..],
            ),
            (
                json!({"type": "codex", "program": "/opt/x", "mcpServers": {
                    "s": {"command": "y", "env": {"KEY": "sk-1"}},
                }}),
                &[
                    "agents are run by codex, as a.json:2 says",
                    "codex has the mcpServers {\"s\":{\"command\":\"y\",\"env\":{\"KEY\":\"...\"}}}, \
                     as a.json:2 says",
                    "codex has the program \"/opt/x\", as a.json:2 says",
                ],
            ),
        ] {
            let mut announced = of_backend("codex", &written, "a.json:2");
            announced.sort();
            assert_eq!(announced, expected);
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
            let listed = listed_keys(&KeyPlaces::in_json(&written));
            assert_eq!(listed.as_deref(), expected);
        }
    }
}
