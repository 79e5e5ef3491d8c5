//! Credentials of the program and of its MCP servers, withheld from its tools.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use autonoe_core::SessionSpec;
use autonoe_core::agent::CredentialFilter;
use serde_json::Value;

/// Credentials that the program reads from a pipe, and the variables that name its descriptor.
const BY_DESCRIPTOR: [(&str, &str); 2] = [
    ("ANTHROPIC_API_KEY", "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR"),
    (
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
    ),
];

/// Credentials that the program reads only from its environment: for a gateway, for TLS.
const BY_ENVIRONMENT: [&str; 4] = [
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_CUSTOM_HEADERS",
    "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
];

/// Variables that select a cloud, and the credentials that the program then reads from its
/// environment.
const BY_CLOUD: [(&str, &[&str]); 3] = [
    ("CLAUDE_CODE_USE_BEDROCK", &["AWS_*"]),
    (
        "CLAUDE_CODE_USE_VERTEX",
        &["GOOGLE_APPLICATION_CREDENTIALS"],
    ),
    (
        "CLAUDE_CODE_USE_FOUNDRY",
        &["ANTHROPIC_FOUNDRY_*", "AZURE_*"],
    ),
];

/// The variable with the script that Bash of the program runs before each command.
pub(super) const BASH_SETUP: &str = "CLAUDE_ENV_FILE";

/// Credentials that were taken out of the environment of a session.
#[derive(Default)]
pub(super) struct Credentials {
    /// Secrets that the program reads from a pipe, by the variable that names the descriptor.
    pub(super) secrets: BTreeMap<&'static str, OsString>,
    /// Variables that the program needs and Bash unsets.
    unset: Vec<String>,
    /// Variables that neither the program nor its tools get.
    withheld: BTreeMap<String, String>,
}

impl Credentials {
    /// Extracts credentials from `environment`, the environment of a session with `spec`.
    ///
    /// Variables that the session sets itself stay: the caller wants tools to have them. The login
    /// of the program is always passed through a pipe, unless the filter allows it by name.
    pub(super) fn extract(
        environment: &mut BTreeMap<OsString, OsString>,
        spec: &SessionSpec,
    ) -> Self {
        let mut extracted = Self::default();
        let filter = &spec.credential_filter;
        for (credential, descriptor) in BY_DESCRIPTOR {
            // An inherited number belongs to another process.
            environment.remove(OsStr::new(descriptor));
            if filter.allows(credential.as_ref()) {
                continue;
            }
            let secret = environment.remove(OsStr::new(credential));
            if let Some(secret) = secret.filter(|secret| !secret.is_empty()) {
                extracted.secrets.insert(descriptor, secret);
            }
        }
        let needed = needed(environment);
        environment.retain(|name, value| {
            let text = name.to_string_lossy();
            if !filter.withholds(name) || spec.environment.contains_key(&*text) {
                return true;
            }
            let text = text.into_owned();
            let is_name = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            let is_needed = is_name && needed.allows(name);
            if is_needed {
                extracted.unset.push(text);
            } else {
                let value = value.to_string_lossy().into_owned();
                extracted.withheld.insert(text, value);
            }
            is_needed
        });
        extracted
    }

    /// Returns a script that unsets the variables that only the program needs; `None` if there is
    /// nothing to unset. `setup` is the user's own setup script.
    pub(super) fn bash_setup(&self, setup: Option<&OsStr>) -> Option<String> {
        if self.unset.is_empty() {
            return None;
        }
        let mut script = format!("unset {}\n", self.unset.join(" "));
        if let Some(setup) = setup {
            let quoted = setup.to_string_lossy().replace('\'', r"'\''");
            script.push_str(&format!(". '{quoted}'\n"));
        }
        Some(script)
    }

    /// Replaces references such as `${GITHUB_TOKEN}` in the configuration of MCP servers: the program
    /// would look for the variable in its environment.
    pub(super) fn expand_references(&self, configuration: &mut Value) {
        match configuration {
            Value::String(text) => {
                for (name, value) in &self.withheld {
                    let reference = format!("${{{name}}}");
                    if text.contains(&reference) {
                        *text = text.replace(&reference, value);
                    }
                }
            }
            Value::Array(items) => items
                .iter_mut()
                .for_each(|item| self.expand_references(item)),
            Value::Object(fields) => fields
                .values_mut()
                .for_each(|value| self.expand_references(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns a filter that allows the credentials that the program reads from its environment.
fn needed(environment: &BTreeMap<OsString, OsString>) -> CredentialFilter {
    let is_on = |switch: &str| {
        let value = environment.get(OsStr::new(switch));
        value.is_some_and(|value| !value.is_empty() && value != "0")
    };
    let clouds = BY_CLOUD.iter().filter(|(switch, _)| is_on(switch));
    let by_cloud = clouds.flat_map(|(_, names)| names.iter().copied());
    let names = BY_ENVIRONMENT.into_iter().chain(by_cloud);
    names.fold(CredentialFilter::default(), CredentialFilter::allow)
}

#[cfg(test)]
mod tests {
    use autonoe_core::RunId;
    use autonoe_core::gate::{Gate, Grants, ProjectPaths};
    use autonoe_core::time::SessionKey;
    use autonoe_core::tool::Toolbox;
    use serde_json::json;

    use super::*;

    fn spec() -> SessionSpec {
        let key = SessionKey {
            run: RunId::new("run"),
            number: 1,
        };
        let gate = Gate::new(ProjectPaths::new("/srv/project"), Grants::none());
        SessionSpec::new(key, "/srv/project", gate, Toolbox::new([]))
    }

    fn environment(variables: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let variables = variables.iter();
        variables
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    }

    fn names(environment: &BTreeMap<OsString, OsString>) -> Vec<String> {
        let names = environment.keys();
        names
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    #[test]
    fn logins_are_passed_through_pipes_and_other_credentials_are_withheld() {
        let mut environment = environment(&[
            ("PATH", "/bin"),
            ("ANTHROPIC_API_KEY", "key"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "token"),
            ("CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", "7"),
            ("GITHUB_TOKEN", "x"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
        ]);

        let extracted = Credentials::extract(&mut environment, &spec());

        assert_eq!(names(&environment), ["PATH"]);
        let secrets = extracted
            .secrets
            .iter()
            .map(|(name, it)| (*name, it.to_str()));
        assert_eq!(
            Vec::from_iter(secrets),
            [
                ("CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR", Some("key")),
                ("CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR", Some("token")),
            ]
        );
        assert_eq!(extracted.bash_setup(None), None);
    }

    #[test]
    fn allowed_variables_and_variables_of_the_session_stay() {
        let mut spec = spec();
        spec.credential_filter = CredentialFilter::default()
            .allow("NPM_TOKEN")
            .allow("ANTHROPIC_API_KEY");
        spec.environment.insert("CI_TOKEN".into(), "set".into());
        let variables = ["NPM_TOKEN", "ANTHROPIC_API_KEY", "CI_TOKEN", "OTHER_TOKEN"];
        let mut environment = environment(&variables.map(|name| (name, "x")));

        let extracted = Credentials::extract(&mut environment, &spec);

        let left = ["ANTHROPIC_API_KEY", "CI_TOKEN", "NPM_TOKEN"];
        assert_eq!(names(&environment), left);
        assert!(extracted.secrets.is_empty());
    }

    #[test]
    fn variables_that_only_the_program_needs_are_unset_in_bash() {
        let mut environment = environment(&[
            ("ANTHROPIC_AUTH_TOKEN", "x"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("CLAUDE_CODE_USE_VERTEX", "0"),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "x"),
        ]);

        let extracted = Credentials::extract(&mut environment, &spec());

        let retained = [
            "ANTHROPIC_AUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
        ];
        assert_eq!(names(&environment), retained);
        let script = extracted.bash_setup(Some("/home/it's/setup.sh".as_ref()));
        assert_eq!(
            script.as_deref(),
            Some("unset ANTHROPIC_AUTH_TOKEN AWS_SECRET_ACCESS_KEY\n. '/home/it'\\''s/setup.sh'\n")
        );
    }

    #[test]
    fn references_in_the_configuration_of_mcp_servers_are_expanded() {
        let mut environment = environment(&[("GITHUB_TOKEN", "x"), ("PLAIN", "y")]);
        let extracted = Credentials::extract(&mut environment, &spec());
        let mut servers = json!({"github": {
            "env": {"TOKEN": "${GITHUB_TOKEN}", "PLAIN": "${PLAIN}", "OTHER": "${OTHER_TOKEN}"},
            "args": ["--header=Bearer ${GITHUB_TOKEN}"],
        }});

        extracted.expand_references(&mut servers);

        let expanded = json!({"github": {
            "env": {"TOKEN": "x", "PLAIN": "${PLAIN}", "OTHER": "${OTHER_TOKEN}"},
            "args": ["--header=Bearer x"],
        }});
        assert_eq!(servers, expanded);
    }
}
