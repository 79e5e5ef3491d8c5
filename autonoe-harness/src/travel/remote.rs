//! Where a project travels through.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::TravelError;

/// The name under which git knows the remote.
pub(super) const NAME: &str = "travel";

/// What takes the place of a secret.
const HIDDEN: &str = "***";

/// Shorter words are not looked for: they stand in every sentence.
const SHORTEST_SECRET: usize = 8;

/// A repository that all hosts reach, and how to get there.
///
/// Git is told of it by its environment: a password or a setting stands in no file, in no arguments of
/// a process, in no error and in no log. Only the protocol of the address is let through.
/// Over SSH nothing is asked; a key comes from an agent (`SSH_AUTH_SOCK`) or from the files of
/// `HOME`, if the commands that run git have those variables.
///
/// ```
/// use autonoe_harness::TravelRemote;
///
/// let remote = TravelRemote::new("https://ada:secret@git.example.org/shop.git")?
///     .setting("http.sslCAInfo", "/etc/ssl/ours.pem");
///
/// assert_eq!(remote.to_string(), "https://git.example.org/shop.git");
/// # Ok::<(), autonoe_harness::TravelError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct TravelRemote {
    url: String,
    protocol: &'static str,
    settings: Vec<(String, String)>,
}

impl TravelRemote {
    /// Names a remote by its address: `https`, `http`, `ssh`, `git` or `file`, `user@host:path`, or an
    /// absolute path.
    ///
    /// # Errors
    ///
    /// It is something else; some addresses of git are programs to run.
    pub fn new(url: impl Into<String>) -> Result<Self, TravelError> {
        let url = url.into();
        let protocol = protocol_of(&url).ok_or_else(|| TravelError::InvalidRemote {
            remote: shown(&url),
        })?;
        Ok(Self {
            url,
            protocol,
            settings: Vec::new(),
        })
    }

    /// Sets something of git for the way there, for example `credential.helper`, `http.extraHeader`
    /// or `core.sshCommand`. Some settings are programs that git runs.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    pub(super) fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// Returns the settings by which git finds it.
    pub(super) fn settings(&self) -> Vec<(String, String)> {
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut settings = vec![set("core.sshCommand", "ssh -o BatchMode=yes")];
        let url = format!("remote.{NAME}.url");
        match parts(&self.url) {
            // Git would hand the whole address to a program, as an argument that everybody can read.
            Some((scheme @ ("http" | "https"), user, rest)) => {
                let host = rest.split('/').next().unwrap_or_default();
                let header = format!("http.{scheme}://{host}/.extraHeader");
                let user = user.split_once(':').unwrap_or((user, ""));
                let user = format!("{}:{}", decoded(user.0), decoded(user.1));
                let value = format!("Authorization: Basic {}", STANDARD.encode(user));
                settings.extend([set(&url, &shown(&self.url)), (header, value)]);
            }
            _ => settings.push(set(&url, &self.url)),
        }
        settings.extend_from_slice(&self.settings);
        settings
    }

    /// Takes out of a text what nobody is to read.
    pub(super) fn without_secrets(&self, text: &str) -> String {
        let text = text.replace(&self.url, &shown(&self.url));
        let secrets = self.secrets();
        let mut secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        // What is part of another is looked for after it.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let hide = |text: String, secret: &str| text.replace(secret, HIDDEN);
        let text = secrets.into_iter().fold(text, hide);
        let words = text.split(' ').map(shown);
        words.collect::<Vec<_>>().join(" ")
    }

    fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        if let Some((_, user, _)) = parts(&self.url) {
            let password = user.split_once(':').map(|(_, password)| password);
            // A token can stand where the name does.
            let name = user.split(':').next().filter(|_| self.protocol != "ssh");
            let name = name.filter(|name| name.len() >= SHORTEST_SECRET);
            for secret in password.into_iter().chain(name) {
                secrets.push(secret.to_owned());
                secrets.push(decoded(secret));
            }
        }
        for (_, value) in &self.settings {
            let words = value.split_whitespace().chain([value.as_str()]);
            let words = words.filter(|word| word.len() >= SHORTEST_SECRET);
            secrets.extend(words.map(str::to_owned));
        }
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }
}

impl fmt::Display for TravelRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.url))
    }
}

impl fmt::Debug for TravelRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self
            .settings
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        f.debug_struct("TravelRemote")
            .field("url", &shown(&self.url))
            .field("settings", &names)
            .finish()
    }
}

fn protocol_of(url: &str) -> Option<&'static str> {
    if url.chars().any(char::is_control) || url.starts_with('-') || url.contains("::") {
        return None;
    }
    if url.starts_with('/') {
        return Some("file");
    }
    if let Some((scheme, rest)) = url.split_once("://") {
        let known = ["https", "http", "ssh", "git", "file"].into_iter();
        let known = known.filter(|_| !rest.is_empty() && !rest.starts_with('-'));
        return known.into_iter().find(|known| *known == scheme);
    }
    let (host, path) = url.split_once(':')?;
    let is_host = !host.is_empty() && !host.contains('/') && !path.is_empty();
    is_host.then_some("ssh")
}

/// Cuts an address into what is before the user, the user with its password, and the rest.
fn parts(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    Some((scheme, &rest[..at], &rest[at + 1..]))
}

/// Returns an address as everybody may see it.
fn shown(url: &str) -> String {
    match parts(url) {
        Some((scheme, _, rest)) => format!("{scheme}://{rest}"),
        None => url.to_owned(),
    }
}

/// Returns what an address means by a text with `%40` and the like in it.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let byte = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, byte) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_run_nothing_are_taken() {
        for (url, protocol) in [
            ("/srv/git/shop.git", Some("file")),
            ("file:///srv/git/shop.git", Some("file")),
            ("https://git.example.org/shop.git", Some("https")),
            ("ssh://git@git.example.org/shop.git", Some("ssh")),
            ("git@git.example.org:shop.git", Some("ssh")),
            ("shop.git", None),
            ("../shop.git", None),
            ("ext::sh -c touch% /tmp/x", None),
            ("--upload-pack=touch x", None),
            ("ssh://-oProxyCommand=x/shop", None),
            ("https://git.example.org/shop\n.git", None),
            ("", None),
        ] {
            let remote = TravelRemote::new(url).ok();
            assert_eq!(remote.map(|remote| remote.protocol()), protocol, "{url}");
        }
    }

    #[test]
    fn nobody_reads_a_password() {
        let remote = TravelRemote::new("https://ada:p%40ss-word@git.example.org/shop.git")
            .expect("an address")
            .setting("http.extraHeader", "Authorization: Bearer abcdefgh123");
        let said = "fatal: unable to access 'https://ada:p%40ss-word@git.example.org/shop.git/': \
            p@ss-word abcdefgh123 https://bob:other@elsewhere.org/";

        let shown = remote.without_secrets(said);

        for secret in ["p%40ss-word", "p@ss-word", "abcdefgh123", "bob", "other@"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        assert!(
            shown.contains("https://git.example.org/shop.git"),
            "{shown}"
        );
        let debug = format!("{remote:?} {remote}");
        assert!(
            !debug.contains("ss-word") && !debug.contains("Bearer"),
            "{debug}"
        );
    }

    #[test]
    fn a_token_in_the_place_of_a_name_is_a_secret() {
        let remote = TravelRemote::new("https://ghp_0123456789@git.example.org/shop.git");
        let remote = remote.expect("an address");

        let shown = remote.without_secrets("could not read Password for ghp_0123456789");

        assert_eq!(shown, "could not read Password for ***");
    }
}
