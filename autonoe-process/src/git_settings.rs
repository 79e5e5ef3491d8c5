//! Git settings in the environment of a program.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

const COUNT: &str = "GIT_CONFIG_COUNT";

/// Adds a Git setting to `environment`, after the settings that are already there.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use autonoe_process::add_git_setting;
///
/// let mut environment = BTreeMap::new();
/// add_git_setting(&mut environment, "user.name", "Ada");
///
/// assert_eq!(environment["GIT_CONFIG_KEY_0".as_ref() as &std::ffi::OsStr], "user.name");
/// ```
pub fn add_git_setting(
    environment: &mut BTreeMap<OsString, OsString>,
    key: &str,
    value: impl Into<OsString>,
) {
    let count: usize = environment
        .get(OsStr::new(COUNT))
        .and_then(|count| count.to_str()?.parse().ok())
        .unwrap_or(0);
    environment.insert(format!("GIT_CONFIG_KEY_{count}").into(), key.into());
    environment.insert(format!("GIT_CONFIG_VALUE_{count}").into(), value.into());
    environment.insert(COUNT.into(), (count + 1).to_string().into());
}

/// Keeps Git from using a directory as a bare repository because it looks like one.
///
/// An agent can write such a directory with its file tools, and the settings in it name programs that
/// Git runs. A repository that a command names explicitly still works.
pub fn refuse_bare_repositories(environment: &mut BTreeMap<OsString, OsString>) {
    add_git_setting(environment, "safe.bareRepository", "explicit");
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn settings_in_the_environment_are_preserved() {
        let mut environment = BTreeMap::from([(COUNT.into(), "2".into())]);

        add_git_setting(&mut environment, "core.excludesFile", "/x");

        let expected = [
            (COUNT, "3"),
            ("GIT_CONFIG_KEY_2", "core.excludesFile"),
            ("GIT_CONFIG_VALUE_2", "/x"),
        ];
        let expected = expected.map(|(name, value)| (name.into(), value.into()));
        assert_eq!(environment, BTreeMap::from(expected));
    }

    #[test]
    fn git_does_not_use_a_planted_bare_repository() {
        let folder = tempfile::tempdir().expect("a directory");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut environment = BTreeMap::from([("PATH".into(), path)]);
        let git = |args: &[&str], environment: &BTreeMap<OsString, OsString>| {
            Command::new("git")
                .args(args)
                .env_clear()
                .envs(environment)
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .expect("git runs")
                .success()
        };
        assert!(git(&["init", "--bare"], &environment));
        assert!(git(&["config", "--get", "core.bare"], &environment));

        refuse_bare_repositories(&mut environment);

        assert!(!git(&["log", "--all"], &environment));
        assert!(git(&["ls-remote", "."], &environment));
    }
}
