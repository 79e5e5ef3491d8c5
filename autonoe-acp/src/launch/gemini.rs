//! What Gemini CLI needs to be an agent without a person.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use serde_json::{Value, json};

/// Set for every session.
const ALWAYS: &[(&str, &str)] = &[
    // Otherwise it starts itself once more, and its parent hands no signal on.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ("NO_COLOR", "1"),
];

/// Never set. In a folder that is trusted, a settings file of the project (which an agent can
/// write) starts servers and allows tools that nobody is asked about.
const NEVER: &[&str] = &["GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_SYSTEM_MD"];

/// Makes `environment` that of Gemini CLI.
pub(super) fn furnish(environment: &mut BTreeMap<OsString, OsString>) {
    for name in NEVER {
        environment.remove(OsStr::new(name));
    }
    for (name, value) in ALWAYS {
        environment.insert(name.into(), value.into());
    }
}

/// Returns its settings for a fresh home.
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
    let has = |name: &str| environment.get(OsStr::new(name)).is_some_and(|value| !value.is_empty());
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

            assert_eq!(settings["security"]["auth"]["selectedType"], login, "{name}");
            assert_eq!(missing_credentials(&environment).is_some(), login.is_null());
        }
    }

    #[test]
    fn a_folder_is_never_trusted() {
        let trusted = ("GEMINI_CLI_TRUST_WORKSPACE".into(), "true".into());
        let mut environment = BTreeMap::from([trusted]);

        furnish(&mut environment);

        let names: Vec<_> = environment.keys().filter_map(|name| name.to_str()).collect();
        assert_eq!(names, ["GEMINI_CLI_NO_RELAUNCH", "NO_COLOR"]);
    }
}
