//! Environment variables of agents' commands and of MCP servers.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

/// Variables that commands get if set: program locations, language and commit author. None of them
/// contains a secret.
const KNOWN: &[&str] = &[
    "PATH",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "LC_MESSAGES",
    "TZ",
    "USER",
    "LOGNAME",
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOROOT",
    "GOPATH",
    "JAVA_HOME",
    "NODE_PATH",
    "NVM_DIR",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "RBENV_ROOT",
    "GEM_HOME",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Returns the part of `environment` for agents' commands: variables that are known to contain no
/// secret, and those in `requested`. Code written by agents should not get more.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use autonoe_model::backend::command_environment;
///
/// let environment = [("PATH", "/bin"), ("OPENAI_API_KEY", "..")]
///     .map(|(name, value)| (name.into(), value.into()))
///     .into();
///
/// let variables = Vec::from_iter(command_environment(&environment, &BTreeSet::new()));
///
/// assert_eq!(variables, [("PATH".into(), "/bin".into())]);
/// ```
pub fn command_environment(
    environment: &BTreeMap<OsString, OsString>,
    requested: &BTreeSet<String>,
) -> impl Iterator<Item = (OsString, OsString)> {
    let known = KNOWN.iter().map(OsStr::new);
    known
        .chain(requested.iter().map(OsStr::new))
        .filter_map(|name| Some((name.to_owned(), environment.get(name)?.clone())))
}

/// Variables that servers get if set, in addition to those of commands: file locations, network and
/// display.
const SERVER_VARIABLES: &[&str] = &[
    "HOME",
    "SHELL",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "NODE_EXTRA_CA_CERTS",
    "NPM_CONFIG_CACHE",
    "NPM_CONFIG_REGISTRY",
    "NPM_CONFIG_USERCONFIG",
    "npm_config_cache",
    "npm_config_registry",
    "npm_config_userconfig",
];

/// Prefix of the built-in browser's variables.
const BROWSER_PREFIX: &str = "PLAYWRIGHT_";

/// Returns the part of `environment` for MCP servers: the variables of commands, those that
/// programs outside of a sandbox need, and those of the built-in browser.
pub(super) fn server_environment(
    environment: &BTreeMap<OsString, OsString>,
    requested: &BTreeSet<String>,
) -> BTreeMap<OsString, OsString> {
    let is_browser = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(BROWSER_PREFIX.as_bytes())
    };
    let known = environment
        .iter()
        .filter(|(name, _)| {
            is_browser(name)
                || SERVER_VARIABLES
                    .iter()
                    .any(|known| **name == OsStr::new(known))
        })
        .map(|(name, value)| (name.clone(), value.clone()));
    known
        .chain(command_environment(environment, requested))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::environment::*;

    #[test]
    fn commands_get_only_known_and_requested_variables() {
        let environment = ["PATH", "ANTHROPIC_API_KEY", "DATABASE_URL", "NEW_SECRET"]
            .map(|name| (name.into(), "x".into()))
            .into();
        let requested = ["DATABASE_URL", "NOT_SET"].map(str::to_owned).into();

        let variables = command_environment(&environment, &requested);

        let names: Vec<_> = variables.map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "DATABASE_URL"]);
    }

    #[test]
    fn servers_get_only_known_and_requested_variables() {
        let environment = [
            "PATH",
            "HOME",
            "HTTPS_PROXY",
            "PLAYWRIGHT_MCP_BROWSER",
            "NPM_TOKEN",
            "ANTHROPIC_API_KEY",
            "AWS_SECRET_ACCESS_KEY",
            "DATABASE_URL",
        ]
        .map(|name| (name.into(), "x".into()))
        .into();
        let requested = ["DATABASE_URL", "NOT_SET"].map(str::to_owned).into();

        let variables = server_environment(&environment, &requested);

        let names = Vec::from_iter(variables.into_keys());
        let expected = [
            "DATABASE_URL",
            "HOME",
            "HTTPS_PROXY",
            "PATH",
            "PLAYWRIGHT_MCP_BROWSER",
        ];
        assert_eq!(names, expected);
    }
}
