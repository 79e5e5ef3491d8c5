//! Environment, credentials and project checks for unattended sessions of Gemini CLI.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

use autonoe_core::agent::AgentErrorKind;
use autonoe_core::{AgentError, SessionSpec};
use autonoe_process::add_git_setting;
use serde::Deserialize;

use super::options::{API_KEY, AcpOptions, HomeFolder, Preset};

/// The folder of a home or of a project with settings. In a trusted project these start servers and
/// allow tools without permission requests, and an agent can write them.
pub(super) const SETTINGS: &str = ".gemini";

/// The file in the folder of a session with the settings that win over all others.
pub(super) const SYSTEM_SETTINGS: &str = "system-settings.json";

/// The method of authentication by an API key.
pub(crate) const BY_API_KEY: &str = "gemini-api-key";

/// Set for every session. A `.env` file does not override variables that are set.
const ALWAYS: &[(&str, &str)] = &[
    // Otherwise it relaunches itself, and the parent does not forward signals.
    ("GEMINI_CLI_NO_RELAUNCH", "true"),
    // In an untrusted folder there are no MCP servers, and so none of our tools.
    ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ("GEMINI_SYSTEM_MD", "false"),
    // It would relaunch itself in a container.
    ("GEMINI_SANDBOX", "false"),
    ("NO_COLOR", "1"),
];

/// Variables with the identity of the user in Git, and the settings with the same effect.
const GIT_IDENTITY: [(&str, &str); 2] = [
    ("GIT_AUTHOR_NAME", "user.name"),
    ("GIT_AUTHOR_EMAIL", "user.email"),
];

/// Adds the variables of Gemini CLI to `environment`. The files of the session are in `folder`.
/// Without a `home`, the session uses that of the user.
pub(super) fn set_environment(
    environment: &mut BTreeMap<OsString, OsString>,
    folder: &Path,
    home: Option<&Path>,
) {
    for (name, value) in ALWAYS {
        environment.insert(name.into(), value.into());
    }
    for (name, file) in [
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", SYSTEM_SETTINGS),
        // The file does not exist.
        ("GEMINI_CLI_SYSTEM_DEFAULTS_PATH", "system-defaults.json"),
    ] {
        environment.insert(name.into(), folder.join(file).into());
    }
    if let Some(home) = home {
        // It has priority over `HOME`.
        environment.insert("GEMINI_CLI_HOME".into(), home.into());
    }
    pass_git_identity(environment);
}

/// Passes the identity of the user in Git in variables that reach commands.
///
/// Gemini CLI passes no configuration of the user to commands, and treats `GIT_AUTHOR_NAME` as a
/// credential because of the letters `AUTH`. It passes `GIT_CONFIG_*`.
fn pass_git_identity(environment: &mut BTreeMap<OsString, OsString>) {
    for (variable, setting) in GIT_IDENTITY {
        if let Some(value) = environment.get(OsStr::new(variable)).cloned() {
            add_git_setting(environment, setting, value);
        }
    }
}

/// Returns the API key that authenticates a session, so that neither the program nor its tools have
/// it in their environment.
///
/// In the home of the user, `authenticate` would replace another login, so the key stays in the
/// environment there.
pub(crate) fn api_key(options: &AcpOptions, spec: &SessionSpec) -> Option<String> {
    if options.preset != Preset::Gemini || options.home == HomeFolder::User {
        return None;
    }
    let of_session = spec.environment.get(API_KEY).cloned();
    let of_all = || {
        options
            .program
            .environment
            .get(OsStr::new(API_KEY))?
            .to_str()
    };
    let key = of_session.or_else(|| of_all().map(str::to_owned));
    key.filter(|key| !key.is_empty())
}

/// Refuses a project with files that would change the permissions of the program, if no sandbox
/// hides them.
///
/// # Errors
///
/// The project has such a file.
pub(super) fn refuse_files(
    project: &Path,
    home: &HomeFolder,
    is_sandboxed: bool,
) -> Result<(), AgentError> {
    let refuse = |message: &str, remedy: &str| {
        let error = AgentError::new(AgentErrorKind::Configuration, message);
        Err(error.with_remedy(remedy))
    };
    // A broken symlink can get a target later.
    let has = |name: &str| project.join(name).symlink_metadata().is_ok();
    if !is_sandboxed && has(SETTINGS) {
        return refuse(
            "the project has a folder .gemini, whose settings could allow calls that the gate \
             denies",
            "remove it, or run the agent in bubblewrap, which hides it",
        );
    }
    if *home == HomeFolder::User && has(".env") {
        return refuse(
            "the project has a file .env, which could redirect the API key to another server, \
             and the settings in the user's home decide whether Gemini CLI reads it",
            "set `home` of the backend to \"perSession\" or {\"persistent\": \"<folder>\"}",
        );
    }
    Ok(())
}

/// Returns the remedy if `environment` has no credentials for a session with a fresh home.
pub(crate) fn missing_credentials(
    environment: &BTreeMap<OsString, OsString>,
) -> Option<&'static str> {
    login(environment)
        .is_none()
        .then_some("set GEMINI_API_KEY, or keep a home folder in which Gemini CLI is logged in")
}

pub(super) fn login(environment: &BTreeMap<OsString, OsString>) -> Option<&'static str> {
    let has = |name: &str| {
        environment
            .get(OsStr::new(name))
            .is_some_and(|value| !value.is_empty())
    };
    if has(API_KEY) {
        Some(BY_API_KEY)
    } else if has("GOOGLE_GENAI_USE_VERTEXAI") {
        Some("vertex-ai")
    } else {
        None
    }
}

/// The version of Gemini CLI that Autonoe is tested with.
pub(crate) const TESTED_VERSION: &str = "0.61.0";

/// Name of the package in the npm registry.
const PACKAGE: &str = "@google/gemini-cli";

/// The fields of `package.json` that are read.
#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
}

/// Returns whether `script` belongs to an installed package of the tested version.
///
/// Starting Gemini CLI takes seconds. A probe of the tested version therefore uses the answer that
/// was recorded from it.
pub(crate) fn is_tested_version(script: &OsStr) -> bool {
    let version = installed_version(Path::new(script));
    version.is_some_and(|version| version == TESTED_VERSION)
}

/// Returns the version of the package that has `script`, at its root or in a directory of it.
fn installed_version(script: &Path) -> Option<String> {
    let script = script.canonicalize().ok().filter(|path| path.is_file())?;
    let manifests = script.ancestors().skip(1).take(2);
    manifests
        .filter_map(|directory| fs::read(directory.join("package.json")).ok())
        .filter_map(|text| serde_json::from_slice::<Manifest>(&text).ok())
        .find(|manifest| manifest.name == PACKAGE)
        .map(|manifest| manifest.version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_missing_where_there_are_none() {
        for (name, value, is_missing) in [
            ("GEMINI_API_KEY", "k", false),
            ("GEMINI_API_KEY", "", true),
            ("GOOGLE_GENAI_USE_VERTEXAI", "true", false),
        ] {
            let environment = BTreeMap::from([(name.into(), value.into())]);

            let missing = missing_credentials(&environment);

            assert_eq!(missing.is_some(), is_missing, "{name}");
        }
    }

    #[test]
    fn variables_that_a_project_file_could_set_are_set() {
        let names = ["GEMINI_SYSTEM_MD", "GEMINI_CLI_HOME"];
        let environment = names.map(|name| (name.into(), "/evil".into()));
        let mut environment = BTreeMap::from(environment);
        let (folder, home) = (Path::new("/session"), Path::new("/session/home"));

        set_environment(&mut environment, folder, Some(home));

        let is = |name: &str, value: &str| environment[OsStr::new(name)] == OsStr::new(value);
        assert!(is("GEMINI_SYSTEM_MD", "false"));
        assert!(is("GEMINI_CLI_HOME", "/session/home"));
        assert!(is(
            "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
            "/session/system-settings.json"
        ));
    }

    #[test]
    fn the_git_identity_is_passed_behind_other_settings_of_git() {
        let variables = [
            ("GIT_AUTHOR_NAME", "Ada"),
            ("GIT_AUTHOR_EMAIL", "ada@example.org"),
            ("GIT_CONFIG_COUNT", "1"),
        ]
        .map(|(name, value)| (name.into(), value.into()));
        let mut environment = BTreeMap::from(variables);

        set_environment(&mut environment, Path::new("/session"), None);

        for (name, value) in [
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_1", "user.name"),
            ("GIT_CONFIG_VALUE_1", "Ada"),
            ("GIT_CONFIG_KEY_2", "user.email"),
            ("GIT_CONFIG_VALUE_2", "ada@example.org"),
        ] {
            assert_eq!(environment[OsStr::new(name)], value, "{name}");
        }
    }

    #[test]
    fn files_of_a_project_are_refused_where_nothing_hides_them() {
        use HomeFolder::{PerSession, User};
        let project = |name: Option<&str>| {
            let project = tempfile::tempdir().expect("a directory can be made");
            let link =
                |name: &str| std::os::unix::fs::symlink("nowhere", project.path().join(name));
            if let Some(name) = name {
                link(name).expect("it can be made");
            }
            project
        };
        for (name, home, is_sandboxed, is_refused) in [
            (None, User, false, false),
            (Some(".gemini"), PerSession, false, true),
            (Some(".gemini"), PerSession, true, false),
            (Some(".env"), PerSession, false, false),
            (Some(".env"), User, true, true),
        ] {
            let project = project(name);

            let refused = refuse_files(project.path(), &home, is_sandboxed);

            assert_eq!(refused.is_err(), is_refused, "{name:?} {home:?}");
        }
    }

    #[test]
    fn the_version_is_that_of_the_package_around_the_script() {
        let folder = tempfile::tempdir().expect("a folder");
        let bundle = folder.path().join("bundle");
        let script = bundle.join("gemini.js");
        fs::create_dir(&bundle).expect("writable");
        fs::write(&script, "").expect("writable");
        let manifest = |text: &str| fs::write(folder.path().join("package.json"), text);

        assert_eq!(installed_version(&script), None);
        for (text, version) in [
            (
                r#"{"name": "@google/gemini-cli", "version": "0.61.0"}"#,
                Some("0.61.0"),
            ),
            (r#"{"name": "gemini", "version": "0.61.0"}"#, None),
            (r#"{"name": "@google/gemini-cli"}"#, None),
            ("not JSON", None),
        ] {
            manifest(text).expect("writable");

            assert_eq!(installed_version(&script).as_deref(), version, "{text}");
        }
        assert_eq!(installed_version(&bundle.join("other.js")), None);
    }

    #[test]
    fn only_the_tested_version_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = folder.path().join("gemini.js");
        fs::write(&script, "").expect("writable");
        for (version, expected) in [(TESTED_VERSION, true), ("0.61.1", false)] {
            let text = format!(r#"{{"name": "{PACKAGE}", "version": "{version}"}}"#);
            fs::write(folder.path().join("package.json"), text).expect("writable");

            assert_eq!(is_tested_version(script.as_os_str()), expected, "{version}");
        }
    }
}
