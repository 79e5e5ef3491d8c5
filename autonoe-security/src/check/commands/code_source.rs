//! Code that comes from the network: addresses, and repositories in the notation of npm.

use super::network::is_local_host;

/// Beginnings of sources that are hosts.
const HOSTS: &[&str] = words!("github: gitlab: bitbucket: gist: git: http: https:");

/// Beginnings of sources behind a name that are no hosts.
const NO_HOSTS: &[&str] = words!("npm: jsr: file: link: portal: patch: workspace: catalog:");

/// The official package registries, and the hosts from which they serve packages.
const REGISTRIES: &[&str] = words!(
    "conda.anaconda.org crates.io download.pytorch.org files.pythonhosted.org index.crates.io",
    "index.rubygems.org jsr.io npm.jsr.io packagist.org proxy.golang.org pypi.org",
    "pypi.python.org registry.npmjs.org registry.yarnpkg.com repo.anaconda.com repo.packagist.org",
    "rubygems.org static.crates.io sum.golang.org",
);

/// Returns whether `text` contains an address of a host that is neither an official registry nor
/// this machine. The end of `text` may be unknown.
pub(super) fn names_foreign_host(text: &str) -> bool {
    text.match_indices("://").any(|(at, _)| {
        let is_end = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.');
        let scheme = text[..at].rsplit(is_end).next().unwrap_or_default();
        let rest = &text[at + 3..];
        let end = rest.find(['/', '?', '#', '"', '\'', ' ', ',', '\\']);
        let authority = rest[..end.unwrap_or(rest.len())].to_ascii_lowercase();
        let host = authority
            .split_once(':')
            .map_or(authority.as_str(), |it| it.0);
        let is_known = is_local_host(host) || REGISTRIES.contains(&host);
        !(is_known || scheme.eq_ignore_ascii_case("file"))
    })
}

/// Returns whether `text` is a web address.
pub(super) fn is_web_address(text: &str) -> bool {
    let lower = text.get(..8).unwrap_or(text).to_ascii_lowercase();
    lower.starts_with("http://") || lower.starts_with("https://")
}

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
    package.contains("://") || starts(&package, HOSTS) || source(&package).is_some_and(is_host)
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
    fn addresses_of_registries_and_of_this_machine_are_not_foreign() {
        for text in [
            "https://pypi.org/simple",
            "x=https://PyPI.org/simple",
            "sparse+https://index.crates.io/",
            "http://localhost:4873",
            "http://127.0.0.1:8081/simple/",
            "file:///srv/project/x",
            "https://repo.packagist.org",
            "@s/x@1.0",
            "",
        ] {
            assert!(!names_foreign_host(text), "{text}");
        }
        for text in [
            "https://pypi.example.net/simple",
            "https://pypi.org@example.net/",
            "https://user:pw@pypi.org/",
            "https://pypi.org.example.net/",
            "https://",
            "https://pypi.org https://example.net",
            "x=git+ssh://example.net/x",
            "{\"url\":\"https://example.net\"}",
        ] {
            assert!(names_foreign_host(text), "{text}");
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
