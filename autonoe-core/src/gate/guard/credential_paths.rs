//! Comparison of paths with the locations of credentials, which agents may not touch.

use std::path::{Path, PathBuf};

use autonoe_security::CREDENTIAL_PATHS;

use super::file_name::{components, fold_name};
use crate::gate::lexical_path::path_candidates::lexical_and_resolved;

/// Resolves [`CREDENTIAL_PATHS`] to their current locations, so that checking a path needs no further
/// file system access.
///
/// If the home directory is unknown, `~/.ssh` covers everything below any `.ssh`, which errs on the
/// side of blocking too much.
pub(super) fn locate_credentials(home: Option<&Path>) -> LocatedCredentials {
    let homes = home.map(lexical_and_resolved).unwrap_or_default();
    let locate = |place: &'static str| match place.strip_prefix("~/") {
        Some(tail) if homes.is_empty() => Location::Anywhere(place, pattern(tail)),
        _ => {
            let locations = locations(place, &homes).into_iter();
            Location::At(place, locations.map(|path| (names(&path), path)).collect())
        }
    };
    LocatedCredentials(CREDENTIAL_PATHS.iter().copied().map(locate).collect())
}

/// Paths of credentials, resolved to their current locations.
pub(super) struct LocatedCredentials(Vec<Location>);

enum Location {
    /// An entry that matches these components anywhere in a path.
    Anywhere(&'static str, Vec<String>),
    /// An entry that is located at these paths.
    At(&'static str, Vec<(Vec<String>, PathBuf)>),
}

impl LocatedCredentials {
    /// Returns how `path`, which must be absolute and normalised, touches entries.
    pub(super) fn touches(&self, path: &Path) -> Vec<Touch<'_>> {
        let path = names(path);
        self.0
            .iter()
            .filter_map(|location| location.touch(&path))
            .collect()
    }
}

impl Location {
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
        let located = locate_credentials(home.map(Path::new));
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
