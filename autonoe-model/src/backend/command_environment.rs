//! Environment variables of agents' commands.

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
/// secret, and those in `wanted`. Code written by agents should not get more.
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
/// let given = Vec::from_iter(command_environment(&environment, &BTreeSet::new()));
///
/// assert_eq!(given, [("PATH".into(), "/bin".into())]);
/// ```
pub fn command_environment(
    environment: &BTreeMap<OsString, OsString>,
    wanted: &BTreeSet<String>,
) -> impl Iterator<Item = (OsString, OsString)> {
    let known = KNOWN.iter().map(OsStr::new);
    known
        .chain(wanted.iter().map(OsStr::new))
        .filter_map(|name| Some((name.to_owned(), environment.get(name)?.clone())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_get_what_is_known_or_wanted_and_nothing_else() {
        let environment = ["PATH", "ANTHROPIC_API_KEY", "DATABASE_URL", "NEW_SECRET"]
            .map(|name| (name.into(), "x".into()))
            .into();
        let wanted = ["DATABASE_URL", "NOT_SET"].map(str::to_owned).into();

        let given = command_environment(&environment, &wanted);

        let names: Vec<_> = given.map(|(name, _)| name).collect();
        assert_eq!(names, ["PATH", "DATABASE_URL"]);
    }
}
