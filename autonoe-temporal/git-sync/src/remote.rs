//! Remote repository that hosts synchronise through.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::SyncError;

/// Name of the remote in git.
pub(crate) const NAME: &str = "git-sync";

/// Replacement of a secret.
const HIDDEN: &str = "***";

/// Minimum length of a secret to be searched for: shorter words are in every sentence.
const SHORTEST_SECRET: usize = 8;

/// A repository that all hosts can reach.
///
/// Git receives its address through the environment: a password never appears in a file, in the
/// arguments of a process, in an error or in a log. Only the protocol of the address is
/// allowed. SSH never prompts; its key comes from an agent (`SSH_AUTH_SOCK`) or from the files in
/// `HOME`, if the commands that run git have those variables.
///
/// ```
/// use autonoe_git_sync::SyncRemote;
///
/// let remote = SyncRemote::new("https://ada:secret@git.example.org/shop.git")?;
///
/// assert_eq!(remote.to_string(), "https://git.example.org/shop.git");
/// # Ok::<(), autonoe_git_sync::SyncError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SyncRemote {
    url: String,
    protocol: &'static str,
}

impl SyncRemote {
    /// Creates a remote from its address: `https`, `http`, `ssh`, `git` or `file`,
    /// `user@host:path`, or an absolute path.
    ///
    /// # Errors
    ///
    /// The address has another form; some addresses of git are programs to run.
    pub fn new(url: impl Into<String>) -> Result<Self, SyncError> {
        let url = url.into();
        let protocol = protocol_of(&url).ok_or_else(|| SyncError::InvalidRemote {
            remote: redacted(&url),
        })?;
        Ok(Self { url, protocol })
    }

    pub(crate) fn protocol(&self) -> &'static str {
        self.protocol
    }

    /// Returns the settings by which git finds the remote.
    pub(crate) fn settings(&self) -> Vec<(String, String)> {
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut settings = vec![set("core.sshCommand", "ssh -o BatchMode=yes")];
        let url = format!("remote.{NAME}.url");
        match parts(&self.url) {
            // Git would pass the whole address to a program, as an argument that every user can
            // read.
            Some((scheme @ ("http" | "https"), user, rest)) => {
                let host = rest.split('/').next().unwrap_or_default();
                let header = format!("http.{scheme}://{host}/.extraHeader");
                let user = user.split_once(':').unwrap_or((user, ""));
                let user = format!("{}:{}", decoded(user.0), decoded(user.1));
                let value = format!("Authorization: Basic {}", STANDARD.encode(user));
                settings.extend([set(&url, &redacted(&self.url)), (header, value)]);
            }
            _ => settings.push(set(&url, &self.url)),
        }
        settings
    }

    /// Removes secrets from a text.
    pub(crate) fn redact(&self, text: &str) -> String {
        let text = text.replace(&self.url, &redacted(&self.url));
        let secrets = self.secrets();
        let mut secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
        // Longer secrets first, because one may contain another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let hide = |text: String, secret: &str| text.replace(secret, HIDDEN);
        let text = secrets.into_iter().fold(text, hide);
        let words = text.split(' ').map(redacted);
        words.collect::<Vec<_>>().join(" ")
    }

    fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        if let Some((_, user, _)) = parts(&self.url) {
            let password = user.split_once(':').map(|(_, password)| password);
            // A token can take the place of the user name.
            let name = user.split(':').next().filter(|_| self.protocol != "ssh");
            let name = name.filter(|name| name.len() >= SHORTEST_SECRET);
            for secret in password.into_iter().chain(name) {
                secrets.push(secret.to_owned());
                secrets.push(decoded(secret));
            }
        }
        secrets.retain(|secret| !secret.is_empty());
        secrets
    }
}

impl fmt::Display for SyncRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redacted(&self.url))
    }
}

impl fmt::Debug for SyncRemote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SyncRemote")
            .field(&redacted(&self.url))
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

/// Splits an address into its scheme, the user with its password, and the rest.
fn parts(url: &str) -> Option<(&str, &str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let at = rest[..end].rfind('@')?;
    Some((scheme, &rest[..at], &rest[at + 1..]))
}

/// Returns an address without its secrets.
fn redacted(url: &str) -> String {
    match parts(url) {
        Some((scheme, _, rest)) => format!("{scheme}://{rest}"),
        None => url.to_owned(),
    }
}

/// Decodes percent-encoding.
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
    fn addresses_that_run_programs_are_refused() {
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
            let remote = SyncRemote::new(url).ok();
            assert_eq!(remote.map(|remote| remote.protocol()), protocol, "{url}");
        }
    }

    #[test]
    fn passwords_are_redacted() {
        let remote = SyncRemote::new("https://ada:p%40ss-word@git.example.org/shop.git")
            .expect("an address");
        let output = "fatal: unable to access 'https://ada:p%40ss-word@git.example.org/shop.git/': \
        p@ss-word https://bob:other@elsewhere.org/";

        let redacted_text = remote.redact(output);

        for secret in ["p%40ss-word", "p@ss-word", "bob", "other@"] {
            assert!(!redacted_text.contains(secret), "{redacted_text}");
        }
        assert!(
            redacted_text.contains("https://git.example.org/shop.git"),
            "{redacted_text}"
        );
        let debug = format!("{remote:?} {remote}");
        assert!(!debug.contains("ss-word"), "{debug}");
    }

    #[test]
    fn a_token_in_place_of_a_user_name_is_redacted() {
        let remote = SyncRemote::new("https://ghp_0123456789@git.example.org/shop.git");
        let remote = remote.expect("an address");

        let redacted_text = remote.redact("could not read Password for ghp_0123456789");

        assert_eq!(redacted_text, "could not read Password for ***");
    }
}
