//! Code that comes from the network: addresses, and repositories in the notation of npm.

use super::server_url::begins_with_protocol;

/// Beginnings of sources that are hosts.
const HOSTS: &[&str] = words!("github: gitlab: bitbucket: gist: git: http: https:");

/// Beginnings of sources behind a name that are no hosts.
const NO_HOSTS: &[&str] = words!("npm: jsr: file: link: portal: patch: workspace: catalog:");

/// Returns whether a package is an address: `git+https://host/x`, `github:owner/x`, `x@https://..`,
/// `me@host:x`.
pub(super) fn is_address(package: &str) -> bool {
    let package = package.to_ascii_lowercase();
    let starts = |text: &str, beginnings: &[&str]| {
        beginnings
            .iter()
            .any(|beginning| text.starts_with(beginning))
    };
    let is_host = |source: &str| source.contains(':') && !starts(source, NO_HOSTS);
    package.contains("://")
        || starts(&package, HOSTS)
        || begins_with_protocol(&package)
        || source(&package).is_some_and(is_host)
}

/// Returns whether npm reads a package as a repository of GitHub: `owner/name`.
pub(super) fn is_repository(package: &str) -> bool {
    let text = source(package).unwrap_or(package);
    let path = text.split('#').next().unwrap_or_default();
    let is_file = path.starts_with(['@', '.', '/', '~'])
        || NO_HOSTS.iter().any(|beginning| path.starts_with(beginning))
        || [".tgz", ".tar", ".tar.gz"]
            .iter()
            .any(|end| path.ends_with(end));
    !is_file && path.split('/').count() == 2
}

/// Returns the part of a package after its name: `1.2` of `@scope/x@1.2`.
fn source(package: &str) -> Option<&str> {
    let name = match package.strip_prefix('@') {
        Some(scoped) => scoped.split_once('/')?.1,
        None => package,
    };
    name.split_once('@').map(|(_, source)| source.trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_recognised_in_every_notation() {
        for address in [
            "https://host/x.tgz",
            "https:host",
            "git+https:host",
            "HTTPS://host/x.tgz",
            "git+ssh://git@host/o/x",
            "github:o/x",
            "x@https://host/x",
            "x @ git+https://host/x",
            "@s/x@github:o/x",
            "git@host:o/x.git",
            "me@host:x",
        ] {
            assert!(is_address(address), "{address}");
        }
        for package in [
            "x",
            "x@1.2.3",
            "@s/x@^2",
            "x==1.2",
            "x@npm:y@3",
            "test:unit",
            "./x",
            "file:./x",
        ] {
            assert!(!is_address(package), "{package}");
        }
    }

    #[test]
    fn repositories_are_recognised_in_the_notation_of_npm() {
        for repository in ["o/x", "o/x#next", "o/x#feature/y", "@s/x@o/y"] {
            assert!(is_repository(repository), "{repository}");
        }
        for package in [
            "x",
            "@s/x",
            "@s/x@1.0",
            "x@npm:@s/y",
            "x@workspace:a/b",
            "dist/x.tgz",
            "./a/b",
            "../b",
            "/a/b",
            "a/b/c",
        ] {
            assert!(!is_repository(package), "{package}");
        }
    }
}
