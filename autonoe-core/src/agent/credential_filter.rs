//! [`CredentialFilter`], which keeps credentials out of the environment of agents' tools.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

/// Names of variables that hold credentials. A `*` matches any text. Matching ignores case.
const PATTERNS: &[&str] = &[
    "*APIKEY",
    "*_AUTH",
    "*_AUTHTOKEN",
    "*_AUTH_CONFIG",
    "*_CONNECTION_STRING",
    "*_COOKIE",
    "*_CREDENTIAL",
    "*_CREDENTIALS",
    "*_CREDS",
    "*_CUSTOM_HEADERS",
    "*_DATABASE_URL",
    "*_JWT",
    "*_KEY",
    "*_OTLP_HEADERS",
    "*_OTLP_*_HEADERS",
    "*_PASS",
    "*_PASSPHRASE",
    "*_PASSWD",
    "*_PAT",
    "*_TOKEN",
    "*_WEBHOOK_URL",
    "*PASSWORD*",
    "*SECRET*",
    "AWS_*",
    "DATABASE_URL",
    "MYSQL_PWD",
    "TOKEN",
];

/// Decides which variables of a backend's environment are withheld from the agent's tools.
///
/// A variable is withheld if its name looks like the name of a credential, unless it is allowed. A
/// backend applies the filter to the environment of its program, and passes the credential that the
/// program itself needs in a way that its tools do not inherit.
///
/// ```
/// use autonoe_core::agent::CredentialFilter;
///
/// let filter = CredentialFilter::default().allow("NPM_TOKEN").allow("AWS_*");
///
/// assert!(filter.withholds("GITHUB_TOKEN".as_ref()));
/// assert!(!filter.withholds("NPM_TOKEN".as_ref()));
/// assert!(!filter.withholds("AWS_PROFILE".as_ref()));
/// assert!(!filter.withholds("PATH".as_ref()));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialFilter {
    allowed: BTreeSet<String>,
}

impl CredentialFilter {
    /// Allows the variables that match `pattern`: a name in which `*` matches any text.
    #[must_use]
    pub fn allow(mut self, pattern: impl Into<String>) -> Self {
        self.allowed.insert(pattern.into());
        self
    }

    /// Returns whether any variable is allowed by name.
    pub fn has_exceptions(&self) -> bool {
        !self.allowed.is_empty()
    }

    /// Returns whether the variable is allowed by name, so that every backend passes it on.
    pub fn allows(&self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        self.allowed.iter().any(|allowed| matches(allowed, &name))
    }

    /// Returns whether the variable is withheld from tools.
    pub fn withholds(&self, name: &OsStr) -> bool {
        let text = name.to_string_lossy();
        let is_credential = PATTERNS.iter().any(|pattern| matches(pattern, &text));
        is_credential && !self.allows(name)
    }

    /// Removes the withheld variables.
    pub fn apply(&self, environment: &mut BTreeMap<OsString, OsString>) {
        environment.retain(|name, _| !self.withholds(name));
    }
}

/// Returns whether `name` matches `pattern`, in which `*` matches any text.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_uppercase(), name.to_ascii_uppercase());
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut left) = name.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = rest.split('*').collect();
    let last = pieces.pop().unwrap_or_default();
    for piece in pieces {
        match left.find(piece) {
            Some(at) => left = &left[at + piece.len()..],
            None => return false,
        }
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pattern has a variable here that no other pattern matches.
    const CREDENTIALS: &[&str] = &[
        "ANTHROPIC_API_KEY",
        "OPENAI_API_KEY",
        "OPENAI_APIKEY",
        "APIKEY",
        "SSH_PRIVATE_KEY",
        "STRIPE_KEY",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "NPM_TOKEN",
        "TOKEN",
        "CARGO_REGISTRIES_COMPANY_TOKEN",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "npm_config_//registry.npmjs.org/:_authToken",
        "npm_config__auth",
        "DOCKER_AUTH_CONFIG",
        "AZURE_DEVOPS_EXT_PAT",
        "CI_JOB_JWT",
        "SECRET_KEY_BASE",
        "CLIENT_SECRET",
        "MY_SECRETS_FILE",
        "PGPASSWORD",
        "DB_PASSWORD",
        "PASSWORD_STORE_KEY_FILE",
        "MYSQL_PWD",
        "SMTP_PASS",
        "LDAP_PASSWD",
        "GPG_PASSPHRASE",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "AWS_PROFILE",
        "GOOGLE_APPLICATION_CREDENTIALS",
        "SERVICE_CREDENTIAL",
        "TWITTER_CREDS",
        "SESSION_COOKIE",
        "DATABASE_URL",
        "TEST_DATABASE_URL",
        "AZURE_STORAGE_CONNECTION_STRING",
        "SLACK_WEBHOOK_URL",
        "ANTHROPIC_CUSTOM_HEADERS",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
    ];

    const OTHERS: &[&str] = &[
        "PATH",
        "HOME",
        "PWD",
        "OLDPWD",
        "LANG",
        "TMPDIR",
        "SSH_AUTH_SOCK",
        "SSH_ASKPASS",
        "GIT_ASKPASS",
        "XAUTHORITY",
        "KEYBOARD",
        "GIT_AUTHOR_NAME",
        "CARGO_HOME",
        "NODE_PATH",
        "MAX_THINKING_TOKENS",
        "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
        "TOKENIZERS_PARALLELISM",
        "HTTP_PROXY",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
        "CI",
    ];

    #[test]
    fn credentials_are_withheld_and_other_variables_are_not() {
        let filter = CredentialFilter::default();
        for name in CREDENTIALS {
            assert!(filter.withholds(name.as_ref()), "{name}");
        }
        for name in OTHERS {
            assert!(!filter.withholds(name.as_ref()), "{name}");
        }
    }

    #[test]
    fn every_pattern_is_needed() {
        for pattern in PATTERNS {
            let others = PATTERNS.iter().filter(|other| *other != pattern);
            let is_needed = CREDENTIALS.iter().any(|name| {
                matches(pattern, name) && !others.clone().any(|other| matches(other, name))
            });
            assert!(is_needed, "{pattern}");
        }
    }

    #[test]
    fn an_allowed_variable_is_passed_on() {
        let filter = CredentialFilter::default()
            .allow("NPM_TOKEN")
            .allow("AWS_*");
        let names = [
            "PATH",
            "NPM_TOKEN",
            "GITHUB_TOKEN",
            "AWS_REGION",
            "MY_SECRET",
        ];
        let mut environment = names.map(|name| (name.into(), "x".into())).into();

        filter.apply(&mut environment);

        let left = Vec::from_iter(environment.into_keys());
        assert_eq!(left, ["AWS_REGION", "NPM_TOKEN", "PATH"]);
        assert!(filter.allows("aws_region".as_ref()));
        assert!(!filter.allows("PATH".as_ref()));
    }

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, name, is_match) in [
            ("A_*", "A_B", true),
            ("A_*", "A_", true),
            ("A_*", "BA_B", false),
            ("*_B", "A_B", true),
            ("*_B", "A_BC", false),
            ("*X*", "aXb", true),
            ("*_B", "_b", true),
            ("A*C", "AC", true),
            ("AA*A", "AA", false),
            ("A*B*C", "AxBxC", true),
            ("A*B*C", "AxC", false),
            ("A", "A", true),
            ("A", "AB", false),
            ("*", "anything", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }
}
