//! Git identity of the user, for agents that have a home of their own.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// Git settings, and the variables with the same effect.
const IDENTITY: [(&str, [&str; 2]); 2] = [
    ("user.name", ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"]),
    ("user.email", ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"]),
];

/// Adds the identity with which the user commits in `project`, unless `environment` has one.
///
/// Most backends give an agent a home of its own, without the user's `.gitconfig`, and keep
/// `.git/config` read-only, so that an agent could not commit at all.
pub(crate) fn add_git_identity(environment: &mut BTreeMap<OsString, OsString>, project: &Path) {
    for (setting, variables) in IDENTITY {
        let mut missing = variables
            .into_iter()
            .map(OsString::from)
            .filter(|name| !environment.contains_key(name))
            .peekable();
        if missing.peek().is_none() {
            continue;
        }
        let missing: Vec<_> = missing.collect();
        if let Some(value) = read(setting, environment, project) {
            environment.extend(missing.into_iter().map(|name| (name, value.clone())));
        }
    }
}

/// Reads the effective value of a Git setting in `project`.
fn read(
    setting: &str,
    environment: &BTreeMap<OsString, OsString>,
    project: &Path,
) -> Option<OsString> {
    let output = Command::new("git")
        .args(["config", "--get", setting])
        .env_clear()
        .envs(environment)
        .current_dir(project)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let value = String::from_utf8(output.stdout).ok()?;
    let value = value.trim_end_matches('\n');
    (output.status.success() && !value.is_empty()).then(|| value.into())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn environment(home: &Path) -> BTreeMap<OsString, OsString> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        BTreeMap::from([
            ("PATH".into(), path),
            ("HOME".into(), home.into()),
            ("GIT_CONFIG_NOSYSTEM".into(), "1".into()),
        ])
    }

    /// Returns the variables of an identity as lines.
    fn identity(environment: &BTreeMap<OsString, OsString>) -> Vec<String> {
        let variables = IDENTITY.iter().flat_map(|(_, variables)| variables);
        let set = variables.filter_map(|name| {
            let value = environment.get(&OsString::from(name))?;
            Some(format!("{name}={}", value.display()))
        });
        set.collect()
    }

    #[test]
    fn the_identity_of_the_user_is_added_and_variables_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let config = "[user]\n\tname = Ada\n\temail = ada@example.org\n";
        fs::write(folder.path().join(".gitconfig"), config).expect("writable");
        let mut added = environment(folder.path());
        added.insert("GIT_AUTHOR_NAME".into(), "Bea".into());

        add_git_identity(&mut added, folder.path());

        let expected = [
            "GIT_AUTHOR_NAME=Bea",
            "GIT_COMMITTER_NAME=Ada",
            "GIT_AUTHOR_EMAIL=ada@example.org",
            "GIT_COMMITTER_EMAIL=ada@example.org",
        ];
        assert_eq!(identity(&added), expected);
    }

    #[test]
    fn a_user_without_an_identity_gets_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut added = environment(folder.path());

        add_git_identity(&mut added, folder.path());

        assert_eq!(identity(&added), Vec::<String>::new());
    }
}
