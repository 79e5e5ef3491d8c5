//! Places of credentials on known machines.

/// Places of credentials, which no tool of an agent reads or writes.
///
/// `~/x` is below the home of a user, and `/x` is absolute. A `*` stands for one whole component.
/// Each place covers everything below it. File tools, Bash commands, browser tools and MCP tools all
/// use this list.
///
/// ```
/// assert!(autonoe_security::CREDENTIAL_PLACES.contains(&"~/.ssh"));
/// ```
pub const CREDENTIAL_PLACES: &[&str] = words!(
    "~/.ssh ~/.aws ~/.gnupg ~/.netrc ~/.config/gcloud ~/.azure ~/.kube ~/.docker/config.json",
    "~/.npmrc ~/.pypirc ~/.git-credentials ~/.config/gh ~/.config/git/credentials",
    "~/.cargo/credentials ~/.cargo/credentials.toml ~/.gem/credentials ~/.m2/settings.xml",
    "~/.pgpass ~/.my.cnf ~/.terraform.d ~/.vault-token ~/.password-store ~/.local/share/keyrings",
    "~/.config/op ~/.config/rclone ~/.config/hub ~/.config/glab-cli ~/.config/composer/auth.json",
    "~/.composer/auth.json ~/.config/pypoetry/auth.toml ~/.config/containers/auth.json",
    "~/.claude/.credentials.json ~/.claude.json ~/.codex/auth.json ~/.gemini/oauth_creds.json",
    "/proc/*/environ /proc/*/task/*/environ",
    // Through these, every file and the memory of a process can be reached.
    "/proc/*/cwd /proc/*/fd /proc/*/mem /proc/*/root",
    "/proc/*/task/*/cwd /proc/*/task/*/fd /proc/*/task/*/mem /proc/*/task/*/root",
    "/run/secrets /var/run/secrets /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow-",
);

/// Returns whether projects have a file of the same name, so that the name alone shows nothing.
pub(crate) fn is_name_of_project_files(place: &str) -> bool {
    words!(
        "~/.npmrc ~/.my.cnf ~/.docker/config.json ~/.m2/settings.xml ~/.terraform.d",
        "~/.claude.json ~/.composer/auth.json ~/.cargo/credentials ~/.cargo/credentials.toml",
        "~/.gem/credentials"
    )
    .contains(&place)
}
