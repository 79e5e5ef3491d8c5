//! Settings files of Gemini CLI.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use autonoe_core::agent::CredentialFilter;
use autonoe_core::project::write_new_file;
use serde_json::{Value, json};

use super::gemini::{BY_API_KEY, login};
use super::options::GEMINI_KEYS;

/// Files and folders of `.gemini` in a home that change the permissions of the program. Its tools
/// must not change them for the next session.
const FIXED_FILES: [&str; 4] = ["settings.json", "trustedFolders.json", ".env", "GEMINI.md"];
const FIXED_FOLDERS: [&str; 5] = ["policies", "extensions", "commands", "agents", "skills"];

/// Returns the settings of the program, which starts with `environment`.
///
/// Its tools do not get the credentials, nor any other variable that looks like one to the program:
/// a command such as `echo` needs no permission. The redaction of the program has no exceptions. It
/// is therefore off for a session whose filter allows variables, if the environment has no
/// credentials of the program itself. A `.env` file of a project sets nothing: it could set where
/// the key is sent, or where the program looks for its settings.
pub(super) fn settings(
    environment: &BTreeMap<OsString, OsString>,
    filter: &CredentialFilter,
    max_turns: Option<u32>,
) -> Value {
    let login = login(environment);
    let has_own_credentials = login != Some(BY_API_KEY);
    let redacts = has_own_credentials || !filter.has_exceptions();
    let mut settings = json!({
        "general": {"enableAutoUpdate": false},
        "privacy": {"usageStatisticsEnabled": false},
        "advanced": {"ignoreLocalEnv": true},
        "security": {
            "environmentVariableRedaction": {"enabled": redacts, "blocked": GEMINI_KEYS},
        },
    });
    if let Some(login) = login {
        settings["security"]["auth"] = json!({"selectedType": login});
    }
    if let Some(turns) = max_turns {
        settings["model"] = json!({"maxSessionTurns": turns});
    }
    settings
}

/// Merges `settings` into the settings in the folder `.gemini` of `home`. Settings of the user
/// stay, unless `settings` override them.
///
/// `session` makes the name of the temporary file unique.
pub(super) fn write(home: &Path, settings: &Value, session: &str) -> io::Result<()> {
    let folder = home.join(".gemini");
    fs::create_dir_all(&folder)?;
    let file = folder.join("settings.json");
    let existing = match fs::read(&file) {
        Ok(bytes) => serde_json::from_slice(&bytes).map_err(|error| {
            let message = format!("{} cannot be read: {error}", file.display());
            io::Error::new(io::ErrorKind::InvalidData, message)
        })?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Value::Null,
        Err(error) => return Err(error),
    };
    let all = merge(existing.clone(), settings);
    if all == existing {
        return Ok(());
    }
    // Another session may read the file at the same time.
    let temporary = folder.join(format!("settings.json.{session}"));
    write_new_file(&temporary, all.to_string().as_bytes())?;
    fs::rename(temporary, file)
}

/// Returns the entries of the folder `.gemini` of a kept home that must be read-only, and creates
/// missing ones: only existing files can be protected.
pub(super) fn read_only_paths(home: &Path) -> io::Result<Vec<PathBuf>> {
    let folder = home.join(".gemini");
    let mut fixed = Vec::new();
    for name in FIXED_FOLDERS {
        let path = folder.join(name);
        fs::create_dir_all(&path)?;
        fixed.push(path);
    }
    for name in FIXED_FILES {
        let path = folder.join(name);
        let empty: &[u8] = if name.ends_with(".json") { b"{}" } else { b"" };
        match write_new_file(&path, empty) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => fixed.push(path),
        }
    }
    Ok(fixed)
}

/// Returns `under`, overridden by `over`.
fn merge(under: Value, over: &Value) -> Value {
    match (under, over) {
        (Value::Object(mut under), Value::Object(over)) => {
            for (name, value) in over {
                let below = under.remove(name).unwrap_or_default();
                under.insert(name.clone(), merge(below, value));
            }
            Value::Object(under)
        }
        (_, over) => over.clone(),
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

            let settings = settings(&environment, &CredentialFilter::default(), None);

            let selected = &settings["security"]["auth"]["selectedType"];
            assert_eq!(*selected, login, "{name}");
        }
    }

    #[test]
    fn redaction_is_on_unless_a_variable_is_allowed_without_the_programs_own_key() {
        let none = CredentialFilter::default();
        let some = none.clone().allow("NPM_TOKEN");
        for (login, filter, redacts) in [
            ("GEMINI_API_KEY", &none, true),
            ("GEMINI_API_KEY", &some, false),
            ("GOOGLE_GENAI_USE_VERTEXAI", &some, true),
        ] {
            let environment = BTreeMap::from([(login.into(), "x".into())]);

            let settings = settings(&environment, filter, None);

            let redaction = &settings["security"]["environmentVariableRedaction"];
            assert_eq!(redaction["enabled"], redacts, "{login}");
        }
    }

    #[test]
    fn settings_of_the_user_stay_unless_we_override_them() {
        let home = tempfile::tempdir().expect("a directory can be made");
        let file = home.path().join(".gemini/settings.json");
        let read = || fs::read_to_string(&file).expect("it is there");
        write(home.path(), &json!({"a": {"b": 1}}), "one").expect("writable");
        assert_eq!(read(), r#"{"a":{"b":1}}"#);
        fs::write(&file, r#"{"a":{"b":2,"c":3},"theme":"x"}"#).expect("writable");

        write(home.path(), &json!({"a": {"b": 1}}), "two").expect("writable");

        let settings: Value = serde_json::from_str(&read()).expect("JSON");
        assert_eq!(settings, json!({"a": {"b": 1, "c": 3}, "theme": "x"}));
        let entries = fs::read_dir(home.path().join(".gemini")).expect("it is there");
        assert_eq!(entries.count(), 1);
    }

    #[test]
    fn invalid_settings_are_an_error_and_stay_unchanged() {
        let home = tempfile::tempdir().expect("a directory can be made");
        let folder = home.path().join(".gemini");
        fs::create_dir(&folder).expect("it can be made");
        fs::write(folder.join("settings.json"), "// mine").expect("writable");

        let error = write(home.path(), &json!({}), "one").expect_err("it is no JSON");

        assert!(error.to_string().contains("settings.json"), "{error}");
        let content = fs::read_to_string(folder.join("settings.json"));
        assert_eq!(content.expect("it is there"), "// mine");
    }

    #[test]
    fn read_only_paths_are_created() {
        let home = tempfile::tempdir().expect("a directory can be made");

        let fixed = read_only_paths(home.path()).expect("it can be made");

        assert_eq!(fixed.len(), FIXED_FILES.len() + FIXED_FOLDERS.len());
        assert!(fixed.iter().all(|path| path.exists()));
    }
}
