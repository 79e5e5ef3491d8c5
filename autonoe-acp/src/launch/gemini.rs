//! What Gemini CLI needs to be an agent without a person.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::{Value, json};

/// The folder of a project in which it looks for settings. In a folder that is trusted they start
/// servers and allow tools that nobody is asked about, and an agent can write them.
pub(super) const PROJECT_SETTINGS: &str = ".gemini";

/// Set for every session. What is set, no file `.env` of a project sets.
const ALWAYS: &[(&str, &str)] = &[
    // Otherwise it starts itself once more, and its parent hands no signal on.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    // In a folder that is not trusted there are no MCP servers, and so none of our tools.
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ("GEMINI_SYSTEM_MD", "false"),
    ("NO_COLOR", "1"),
];

/// Makes `environment` that of Gemini CLI. The settings at `system_settings` win over all others.
pub(super) fn furnish(environment: &mut BTreeMap<OsString, OsString>, system_settings: &Path) {
    for (name, value) in ALWAYS {
        environment.insert(name.into(), value.into());
    }
    let name = "GEMINI_CLI_SYSTEM_SETTINGS_PATH";
    environment.insert(name.into(), system_settings.into());
}

/// Returns its settings.
pub(super) fn settings(
    environment: &BTreeMap<OsString, OsString>,
    max_turns: Option<u32>,
) -> Value {
    let mut settings = json!({
        "general": {"enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
    });
    if let Some(login) = login(environment) {
        settings["security"] = json!({"auth": {"selectedType": login}});
    }
    if let Some(turns) = max_turns {
        settings["model"] = json!({"maxSessionTurns": turns});
    }
    settings
}

/// Says what is missing in `environment` for a program with a fresh home, if something is.
pub(crate) fn missing_credentials(
    environment: &BTreeMap<OsString, OsString>,
) -> Option<&'static str> {
    login(environment)
        .is_none()
        .then_some("set GEMINI_API_KEY, or keep a home folder in which Gemini CLI is logged in")
}

fn login(environment: &BTreeMap<OsString, OsString>) -> Option<&'static str> {
    let has = |name: &str| {
        environment
            .get(OsStr::new(name))
            .is_some_and(|value| !value.is_empty())
    };
    if has("GEMINI_API_KEY") {
        Some("gemini-api-key")
    } else if has("GOOGLE_GENAI_USE_VERTEXAI") {
        Some("vertex-ai")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_login_follows_from_the_environment() {
        for (name, value, login) in [
            ("GEMINI_API_KEY", "k", json!("gemini-api-key")),
            ("GOOGLE_GENAI_USE_VERTEXAI", "true", json!("vertex-ai")),
            ("GEMINI_API_KEY", "", json!(null)),
        ] {
            let environment = BTreeMap::from([(name.into(), value.into())]);

            let settings = settings(&environment, None);

            assert_eq!(
                settings["security"]["auth"]["selectedType"], login,
                "{name}"
            );
            assert_eq!(missing_credentials(&environment).is_some(), login.is_null());
        }
    }

    #[test]
    fn what_a_file_of_the_project_could_set_is_set() {
        let mut environment = BTreeMap::from([("GEMINI_SYSTEM_MD".into(), "/evil.md".into())]);

        furnish(&mut environment, Path::new("/session/system.json"));

        let is = |name: &str, value: &str| environment[OsStr::new(name)] == OsStr::new(value);
        assert!(is("GEMINI_SYSTEM_MD", "false"));
        assert!(is(
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            "/session/system.json"
        ));
    }
}
