//! Comparison of paths with the locations of credentials, which agents may not touch.

use std::path::{Path, PathBuf};

use autonoe_security::CREDENTIAL_PATHS;

use super::file_name::{components, fold_name};
use crate::gate::lexical_path::normalise;
use crate::gate::lexical_path::resolver::Resolver;

/// [`CREDENTIAL_PATHS`] in a form that is fast to compare: names are folded once, so that a call only
/// resolves symlinks.
#[derive(Clone, Debug)]
pub(super) struct CredentialPaths {
    home: Option<PathBuf>,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Path or pattern, as in [`CREDENTIAL_PATHS`].
    place: &'static str,
    /// Path below the home directory, if the entry is in it.
    tail: Option<&'static str>,
    /// Folded names of the tail, or of the place.
    names: Vec<String>,
    /// Location without resolved symlinks. `None` if the home directory is unknown.
    lexical: Option<Location>,
}

#[derive(Clone, Debug)]
struct Location {
    names: Vec<String>,
    path: PathBuf,
}

impl CredentialPaths {
    /// Prepares the entries for the home directory of the user.
    ///
    /// If it is unknown, `~/.ssh` covers everything below any `.ssh`, which errs on the side of
    /// blocking too much.
    pub(super) fn new(home: Option<&Path>) -> Self {
        let entries = CREDENTIAL_PATHS.iter().copied();
        Self {
            home: home.map(Path::to_owned),
            entries: entries.map(|place| Entry::new(place, home)).collect(),
        }
    }

    /// Resolves the entries to their current locations, so that checking a path needs no further
    /// file system access.
    pub(super) fn locate(&self, resolver: &Resolver) -> LocatedCredentials<'_> {
        let home = self.home.as_deref();
        let resolved_home = home.and_then(|home| resolver.resolve(home).ok());
        let locate = |entry| LocatedEntry {
            entry,
            resolved: entry.resolve(resolved_home.as_deref(), resolver),
        };
        LocatedCredentials(self.entries.iter().map(locate).collect())
    }
}

impl Entry {
    fn new(place: &'static str, home: Option<&Path>) -> Self {
        let tail = place.strip_prefix("~/");
        let path = match tail {
            Some(tail) => home.map(|home| normalise(home).join(tail)),
            None => Some(PathBuf::from(place)),
        };
        Self {
            place,
            tail,
            names: folded_names(tail.unwrap_or(place)),
            lexical: path.map(Location::new),
        }
    }

    /// Returns the locations that differ from the lexical one. A home directory and its content can
    /// be reached through symlinks.
    fn resolve(&self, resolved_home: Option<&Path>, resolver: &Resolver) -> Vec<Location> {
        let Some(lexical) = &self.lexical else {
            return Vec::new();
        };
        // A pattern is not a path that could be resolved.
        let is_pattern = self.place.contains('*');
        let mut paths = Vec::new();
        match (self.tail, resolved_home) {
            (Some(tail), Some(home)) => {
                paths.push(home.join(tail));
                if !is_pattern {
                    paths.extend(resolver.resolve_below(home.to_owned(), tail.as_ref()));
                }
            }
            (None, _) if !is_pattern => paths.extend(resolver.resolve(&lexical.path)),
            (Some(_), None) | (None, _) => {}
        }
        paths.dedup();
        paths.retain(|path| *path != lexical.path);
        paths.into_iter().map(Location::new).collect()
    }
}

impl Location {
    fn new(path: PathBuf) -> Self {
        let names = folded_names(&path.to_string_lossy());
        Self { names, path }
    }
}

/// Credential paths, resolved to their current locations.
pub(super) struct LocatedCredentials<'a>(Vec<LocatedEntry<'a>>);

struct LocatedEntry<'a> {
    entry: &'a Entry,
    /// Locations behind symlinks.
    resolved: Vec<Location>,
}

impl LocatedCredentials<'_> {
    /// Returns how `path`, which must be absolute and normalised, touches entries.
    ///
    /// A path that can also be `in_unknown_home` touches the entries of any home directory.
    pub(super) fn touches(&self, path: &Path, in_unknown_home: bool) -> Vec<Touch<'_>> {
        let path = folded_names(&path.to_string_lossy());
        self.0
            .iter()
            .flat_map(|entry| {
                let anywhere = entry.touch_anywhere(&path, in_unknown_home);
                [entry.touch(&path), anywhere]
            })
            .flatten()
            .collect()
    }
}

impl LocatedEntry<'_> {
    fn touch(&self, path: &[String]) -> Option<Touch<'_>> {
        let mut locations = self.entry.lexical.iter().chain(&self.resolved);
        let location = locations.find(|location| fits(&location.names, path))?;
        let place = self.entry.place;
        Some(if path.len() >= location.names.len() {
            Touch::Inside { place }
        } else {
            Touch::Above {
                place,
                location: &location.path,
            }
        })
    }

    /// Finds the names of an entry of a home directory at any position of `path`.
    fn touch_anywhere(&self, path: &[String], in_unknown_home: bool) -> Option<Touch<'_>> {
        let Entry {
            place,
            tail,
            names,
            lexical,
        } = self.entry;
        let is_unlocated = tail.is_some() && (in_unknown_home || lexical.is_none());
        (is_unlocated && has_part(path, names)).then_some(Touch::Inside { place })
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

fn folded_names(path: &str) -> Vec<String> {
    components(path).map(fold_name).collect()
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
        let credentials = CredentialPaths::new(home.map(Path::new));
        let located = credentials.locate(&Resolver::default());
        match located.touches(Path::new(path), false).first() {
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

    #[cfg(unix)]
    #[test]
    fn an_entry_behind_symlinks_is_touched_at_each_of_its_paths() {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let root = dir.path().canonicalize().expect("it exists");
        for name in ["real/keys", "real/.config", "elsewhere"] {
            std::fs::create_dir_all(root.join(name)).expect("it can be made");
        }
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, root.join(name)).expect("it can be made");
        };
        link("real", "home");
        link("keys", "real/.ssh");
        link("../../elsewhere", "real/.config/gh");
        let credentials = CredentialPaths::new(Some(&root.join("home")));
        let resolver = Resolver::default();
        let located = credentials.locate(&resolver);

        for (path, is_inside) in [
            ("home/.ssh/id", true),
            ("real/.ssh/id", true),
            ("real/keys/id", true),
            ("elsewhere/hosts.yml", true),
            ("home/.config/gh", true),
            ("real/.aws/credentials", true),
            ("home/keys", false),
            ("real/.config/git", false),
            ("other/.ssh/id", false),
        ] {
            let touches = located.touches(&root.join(path), false);
            let inside = |touch: &Touch<'_>| matches!(touch, Touch::Inside { .. });
            assert_eq!(touches.iter().any(inside), is_inside, "{path}");
        }
        let in_any_home = located.touches(Path::new("/other/.ssh/id"), true);
        assert_eq!(in_any_home, [Touch::Inside { place: "~/.ssh" }]);
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
