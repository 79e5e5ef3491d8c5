//! What MCP servers find in their environment.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

use super::command_environment::command_environment;

/// Variables that servers get if they are set, beside those of commands: where their files are,
/// how they reach the network and a screen.
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

/// Variables of the built-in browser begin so.
const OF_THE_BROWSER: &str = "PLAYWRIGHT_";

/// Returns what servers get of `environment`: what commands get, what programs outside of a
/// sandbox need besides, and what the built-in browser is told by.
pub(super) fn for_servers(
    environment: &BTreeMap<OsString, OsString>,
    wanted: &BTreeSet<String>,
) -> BTreeMap<OsString, OsString> {
    let of_the_browser = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(OF_THE_BROWSER.as_bytes())
    };
    let known = environment.iter().filter(|(name, _)| {
        of_the_browser(name) || KNOWN.iter().any(|known| **name == OsStr::new(known))
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

        let given = for_servers(&environment, &wanted);

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
