//! The places of credentials.

use std::path::{Path, PathBuf};

use autonoe_security::CREDENTIAL_PLACES;

use super::file_name::{components, folded};
use crate::port::lexical_path::meanings::both_forms;

/// The places of credentials, which no agent reads or writes.
///
/// A place is written as `~/.ssh` (below the home), as `/etc/shadow` (absolute)
/// or as `.env` (anywhere). A `*` stands for one whole component. The places
/// of [`CREDENTIAL_PLACES`] cannot be taken away.
///
/// Without a known home, `~/.ssh` is everything below any `.ssh`: rather too
/// much than too little.
///
/// ```
/// use autonoe_core::{CredentialPlaces, FileScope, ProjectPaths};
///
/// let credentials = CredentialPlaces::default().with_place("~/.vault-token").with_place(".env");
/// let scope = FileScope::new(ProjectPaths::new("/srv/project")).with_credentials(credentials);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialPlaces(Vec<String>);

impl Default for CredentialPlaces {
    fn default() -> Self {
        Self(
            CREDENTIAL_PLACES
                .iter()
                .map(|&place| place.to_owned())
                .collect(),
        )
    }
}

impl CredentialPlaces {
    /// Adds `place`.
    #[must_use]
    pub fn with_place(mut self, place: impl Into<String>) -> Self {
        self.0.push(place.into());
        self
    }

    /// Returns the places as they are written.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Finds out where the places are now; looking at a path after that costs nothing.
    pub(super) fn locate(&self, home: Option<&Path>) -> LocatedPlaces<'_> {
        let homes = home.map(both_forms).unwrap_or_default();
        let locate = |place| match anywhere(place, home) {
            Some(tail) => Location::Anywhere(place, pattern(tail)),
            None => {
                let locations = locations(place, &homes).into_iter();
                Location::At(place, locations.map(|path| (names(&path), path)).collect())
            }
        };
        LocatedPlaces(self.iter().map(locate).collect())
    }
}

/// The places of credentials, with where they are at this time.
pub(super) struct LocatedPlaces<'a>(Vec<Location<'a>>);

enum Location<'a> {
    /// A place that is known by these names wherever they stand.
    Anywhere(&'a str, Vec<String>),
    /// A place that is at these paths.
    At(&'a str, Vec<(Vec<String>, PathBuf)>),
}

impl LocatedPlaces<'_> {
    /// Returns how `path`, which is absolute and normal, touches places.
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

/// How a path touches a place of credentials.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Touch<'a> {
    /// It is the place or is inside it.
    Inside { place: &'a str },
    /// It is a directory that the place is somewhere below.
    Above { place: &'a str, location: &'a Path },
}

/// Returns the part of `place` that is looked for anywhere, or `None` when its location is known.
fn anywhere<'a>(place: &'a str, home: Option<&Path>) -> Option<&'a str> {
    match place.strip_prefix("~/") {
        Some(tail) => home.is_none().then_some(tail),
        None => (!place.starts_with('/')).then_some(place),
    }
}

/// Returns where `place` is: a home and what is in it can be reached through symlinks.
fn locations(place: &str, homes: &[PathBuf]) -> Vec<PathBuf> {
    let bases = match place.strip_prefix("~/") {
        Some(tail) => homes.iter().map(|home| home.join(tail)).collect(),
        None => vec![PathBuf::from(place)],
    };
    // A pattern is no path that could be followed.
    if place.contains('*') {
        return bases;
    }
    bases.iter().flat_map(|base| both_forms(base)).collect()
}

fn names(path: &Path) -> Vec<String> {
    pattern(&path.to_string_lossy())
}

fn pattern(text: &str) -> Vec<String> {
    components(text).map(folded).collect()
}

fn has_part(names: &[String], part: &[String]) -> bool {
    !part.is_empty() && names.windows(part.len()).any(|names| fits(part, names))
}

/// Compares as far as both go.
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
        let places = CredentialPlaces::default().with_place(".env");
        let located = places.locate(home.map(Path::new));
        match located.touches(Path::new(path)).first() {
            None => "none",
            Some(Touch::Inside { .. }) => "inside",
            Some(Touch::Above { .. }) => "above",
        }
    }

    #[test]
    fn a_path_is_inside_a_place_or_above_it_or_neither() {
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
    fn every_way_through_a_process_is_inside() {
        for process in ["self", "12", "12/task/13"] {
            for link in ["cwd", "root", "fd", "mem", "environ"] {
                let path = format!("/proc/{process}/{link}/etc/shadow");

                assert_eq!(touch(&path, Some(HOME)), "inside", "{path}");
            }
        }
    }

    #[test]
    fn without_a_home_the_places_in_it_are_everywhere() {
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
