//! Well-known locations of credentials.

/// Locations of credentials, which no tool of an agent reads or writes.
///
/// `~/x` is below the home of a user, and `/x` is absolute. A `*` matches one whole component. Each
/// location covers everything below it. File tools, Bash commands, browser tools and MCP tools all
/// use this list.
///
/// ```
/// assert!(autonoe_security::CREDENTIAL_PATHS.contains(&"~/.ssh"));
/// ```
pub const CREDENTIAL_PATHS: &[&str] = words!(
    "~/.ssh ~/.aws ~/.gnupg ~/.netrc ~/.config/gcloud ~/.azure ~/.kube ~/.docker/config.json",
    "~/.npmrc ~/.pypirc ~/.git-credentials ~/.config/gh ~/.config/git/credentials",
    "~/.cargo/credentials ~/.cargo/credentials.toml ~/.gem/credentials ~/.m2/settings.xml",
    "~/.pgpass ~/.my.cnf ~/.terraform.d ~/.vault-token ~/.password-store ~/.local/share/keyrings",
    "~/.config/op ~/.config/rclone ~/.config/hub ~/.config/glab-cli ~/.config/composer/auth.json",
    "~/.composer/auth.json ~/.config/pypoetry/auth.toml ~/.config/containers/auth.json",
    "~/.claude/.credentials.json ~/.claude.json ~/.codex/auth.json ~/.gemini/oauth_creds.json",
    "/proc/*/environ /proc/*/task/*/environ",
    // These give access to every file and to the memory of a process.
    "/proc/*/cwd /proc/*/fd /proc/*/mem /proc/*/root",
    "/proc/*/task/*/cwd /proc/*/task/*/fd /proc/*/task/*/mem /proc/*/task/*/root",
    "~/.gradle/gradle.properties ~/.bundle/config ~/.yarnrc.yml ~/.config/pip/pip.conf",
    "~/.pip/pip.conf ~/.cache/huggingface/token ~/.cache/huggingface/stored_tokens",
    "~/.huggingface/token ~/Library/Keychains /Library/Keychains",
    "/etc/ssh/ssh_host_dsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private /run/secrets /var/run/secrets /etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow-",
);

/// Returns whether projects have a file of the same name, so that the name alone proves nothing.
pub(crate) fn is_name_of_project_files(place: &str) -> bool {
    words!(
        "~/.npmrc ~/.my.cnf ~/.docker/config.json ~/.m2/settings.xml ~/.terraform.d",
        "~/.claude.json ~/.composer/auth.json ~/.cargo/credentials ~/.cargo/credentials.toml",
        "~/.gem/credentials ~/.gradle/gradle.properties ~/.bundle/config ~/.yarnrc.yml",
        "~/.pip/pip.conf",
    )
    .contains(&place)
}
