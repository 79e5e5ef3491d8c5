//! [`CredentialPaths`], the paths of credentials that agents may not touch.

use std::path::{Path, PathBuf};

use autonoe_security::CREDENTIAL_PATHS;

use super::file_name::{components, fold_name};
use crate::gate::lexical_path::path_candidates::lexical_and_resolved;

/// Paths of credentials, which no agent may read or write.
///
/// An entry is written as `~/.ssh` (below the home directory), as `/etc/shadow` (absolute) or as
/// `.env` (anywhere). A `*` stands for one whole component. The entries of [`CREDENTIAL_PATHS`]
/// cannot be removed.
///
/// If the home directory is unknown, `~/.ssh` covers everything below any `.ssh`, which errs on the
/// side of blocking too much.
///
/// ```
/// use autonoe_core::gate::{CredentialPaths, FileScope, ProjectPaths};
///
/// let credentials = CredentialPaths::default().with_path("~/.vault-token").with_path(".env");
/// let scope = FileScope::new(ProjectPaths::new("/srv/project")).with_credentials(credentials);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialPaths(Vec<String>);

impl Default for CredentialPaths {
    fn default() -> Self {
        Self(
            CREDENTIAL_PATHS
                .iter()
                .map(|&place| place.to_owned())
                .collect(),
        )
    }
}

impl CredentialPaths {
    /// Adds `place`.
    #[must_use]
    pub fn with_path(mut self, place: impl Into<String>) -> Self {
        self.0.push(place.into());
        self
    }

    /// Returns the entries as they were written.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Resolves the entries to their current locations, so that checking a path needs no further
    /// file system access.
    pub(super) fn locate(&self, home: Option<&Path>) -> LocatedCredentials<'_> {
        let homes = home.map(lexical_and_resolved).unwrap_or_default();
        let locate = |place| match anywhere(place, home) {
            Some(tail) => Location::Anywhere(place, pattern(tail)),
            None => {
                let locations = locations(place, &homes).into_iter();
                Location::At(place, locations.map(|path| (names(&path), path)).collect())
            }
        };
        LocatedCredentials(self.iter().map(locate).collect())
    }
}

/// Paths of credentials, resolved to their current locations.
pub(super) struct LocatedCredentials<'a>(Vec<Location<'a>>);

enum Location<'a> {
    /// An entry that matches these components anywhere in a path.
    Anywhere(&'a str, Vec<String>),
    /// An entry that is located at these paths.
    At(&'a str, Vec<(Vec<String>, PathBuf)>),
}

impl LocatedCredentials<'_> {
    /// Returns how `path`, which must be absolute and normalised, touches entries.
    pub(super) fn touches(&self, path: &Path) -> Vec<Touch<'_>> {
        let path = names(path);
        self.0
            .iter()
            .filter_map(|location| location.touch(&path))
            .collect()
    }
}

impl Location<'_> {
    fn touch(&self, path: &[String]) -> Option<Touch<'_>> {
        match self {
            Self::Anywhere(place, part) => has_part(path, part).then_some(Touch::Inside { place }),
            Self::At(place, locations) => {
                let (own, location) = locations.iter().find(|(own, _)| fits(own, path))?;
                Some(if path.len() >= own.len() {
                    Touch::Inside { place }
                } else {
                    Touch::Above { place, location }
                })
            }
        }
    }
}

/// Relation of a path to an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Touch<'a> {
    /// The path is the entry or is inside of it.
    Inside { place: &'a str },
    /// The path is a directory that contains the entry at some depth.
    Above { place: &'a str, location: &'a Path },
}

/// Returns the part of `place` to search for anywhere, or `None` if its location is known.
fn anywhere<'a>(place: &'a str, home: Option<&Path>) -> Option<&'a str> {
    match place.strip_prefix("~/") {
        Some(tail) => home.is_none().then_some(tail),
        None => (!place.starts_with('/')).then_some(place),
    }
}

/// Returns the locations of `place`. A home directory and its content can be reached through
/// symlinks.
fn locations(place: &str, homes: &[PathBuf]) -> Vec<PathBuf> {
    let bases = match place.strip_prefix("~/") {
        Some(tail) => homes.iter().map(|home| home.join(tail)).collect(),
        None => vec![PathBuf::from(place)],
    };
    // A pattern is not a path that could be resolved.
    if place.contains('*') {
        return bases;
    }
    bases
        .iter()
        .flat_map(|base| lexical_and_resolved(base))
        .collect()
}

fn names(path: &Path) -> Vec<String> {
    pattern(&path.to_string_lossy())
}

fn pattern(text: &str) -> Vec<String> {
    components(text).map(fold_name).collect()
}

fn has_part(names: &[String], part: &[String]) -> bool {
    !part.is_empty() && names.windows(part.len()).any(|names| fits(part, names))
}

/// Compares up to the length of the shorter one.
fn fits(pattern: &[String], names: &[String]) -> bool {
    pattern
        .iter()
        .zip(names)
        .all(|(own, name)| own == "*" || own == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: &str = "/no-home/user";

    fn touch(path: &str, home: Option<&str>) -> &'static str {
        let places = CredentialPaths::default().with_path(".env");
        let located = places.locate(home.map(Path::new));
        match located.touches(Path::new(path)).first() {
            None => "none",
            Some(Touch::Inside { .. }) => "inside",
            Some(Touch::Above { .. }) => "above",
        }
    }

    #[test]
    fn a_path_is_inside_an_entry_or_above_it_or_neither() {
        for (path, expected) in [
            ("/no-home/user/.ssh", "inside"),
            ("/no-home/user/.ssh/id_rsa", "inside"),
            ("/no-home/user/.SSH/id_rsa", "inside"),
            ("/no-home/user/.ssh-notes", "none"),
            ("/no-home/user/.config/gh/hosts.yml", "inside"),
            ("/no-home/user/.config/other", "none"),
            ("/no-home/user/.config", "above"),
            ("/no-home/user/.claude.json", "inside"),
            ("/no-home/user/.claude/settings.json", "none"),
            ("/no-home/user", "above"),
            ("/no-home", "above"),
            ("/", "above"),
            ("/no-home/user/code", "none"),
            ("/no-home/other/.ssh/id_rsa", "none"),
            ("/proc/self/environ", "inside"),
            ("/proc/12/task/13/environ", "inside"),
            ("/proc/12/status/x", "none"),
            ("/proc/12/fd/3", "inside"),
            ("/proc/12/task/13/mem", "inside"),
            ("/run/secrets/token", "inside"),
            ("/no-home/user/.cargo/credentials", "inside"),
            ("/no-home/user/.cargo/registry", "none"),
            ("/no-home/user/.m2/repository/x", "none"),
            ("/etc/shadow", "inside"),
            ("/etc/hosts", "none"),
            ("/srv/project/.npmrc", "none"),
            ("/srv/project/.env", "inside"),
            ("/srv/project/.env.example", "none"),
        ] {
            assert_eq!(touch(path, Some(HOME)), expected, "{path}");
        }
    }

    #[test]
    fn every_path_through_a_process_is_inside() {
        for process in ["self", "12", "12/task/13"] {
            for link in ["cwd", "root", "fd", "mem", "environ"] {
                let path = format!("/proc/{process}/{link}/etc/shadow");

                assert_eq!(touch(&path, Some(HOME)), "inside", "{path}");
            }
        }
    }

    #[test]
    fn without_a_home_its_entries_match_everywhere() {
        for (path, expected) in [
            ("/x/user/.ssh/id_rsa", "inside"),
            ("/x/.config/gh/hosts.yml", "inside"),
            ("/x/.config/y/gh", "none"),
            ("/srv/project/src", "none"),
        ] {
            assert_eq!(touch(path, None), expected, "{path}");
        }
    }
}
