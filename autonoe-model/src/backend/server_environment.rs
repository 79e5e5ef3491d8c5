//! Environment variables of MCP servers.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use super::command_environment::command_environment;

/// Variables that servers get if set, in addition to those of commands: file locations, network and
/// display.
const KNOWN: &[&str] = &[
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
    wanted: &BTreeSet<String>,
) -> BTreeMap<OsString, OsString> {
    let is_browser = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(BROWSER_PREFIX.as_bytes())
    };
    let known = environment.iter().filter(|(name, _)| {
        is_browser(name) || KNOWN.iter().any(|known| **name == OsStr::new(known))
    });
    let known = known.map(|(name, value)| (name.clone(), value.clone()));
    known
        .chain(command_environment(environment, wanted))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_get_what_is_known_or_wanted_and_nothing_else() {
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
        let wanted = ["DATABASE_URL", "NOT_SET"].map(str::to_owned).into();

        let given = server_environment(&environment, &wanted);

        let names = Vec::from_iter(given.into_keys());
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
