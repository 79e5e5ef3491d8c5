//! Comparison of paths with the locations of credentials, which agents may not touch.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use autonoe_security::CREDENTIAL_PATHS;

use super::file_name::{components, fold_name};
use crate::gate::lexical_path::normalise;
use crate::gate::lexical_path::resolver::Resolver;

/// [`CREDENTIAL_PATHS`] for the home directory of a user.
#[derive(Clone, Debug)]
pub(super) struct CredentialPaths {
    home: Option<Home>,
}

#[derive(Clone, Debug)]
struct Home {
    path: PathBuf,
    normalised: Location,
}

/// The entries of [`CREDENTIAL_PATHS`], whose names are folded once per process.
static ENTRIES: LazyLock<Vec<Entry>> =
    LazyLock::new(|| CREDENTIAL_PATHS.iter().copied().map(Entry::new).collect());

#[derive(Debug)]
struct Entry {
    /// Path or pattern, as in [`CREDENTIAL_PATHS`].
    place: &'static str,
    /// The place, relative to the home directory if it is in one, and to the root otherwise.
    path: &'static Path,
    is_in_home: bool,
    is_pattern: bool,
    /// Folded names of the path.
    names: Names<'static>,
}

type Names<'a> = Vec<Cow<'a, str>>;

#[derive(Clone, Debug)]
struct Location {
    names: Names<'static>,
    path: PathBuf,
}

impl CredentialPaths {
    /// Prepares the entries for the home directory of the user.
    ///
    /// If it is unknown, `~/.ssh` covers everything below any `.ssh`, which errs on the side of
    /// blocking too much.
    pub(super) fn new(home: Option<&Path>) -> Self {
        Self {
            home: home.map(|home| Home {
                path: home.to_owned(),
                normalised: Location::new(normalise(home)),
            }),
        }
    }

    /// Resolves the entries to their current locations, so that checking a path needs no further
    /// file system access.
    pub(super) fn locate(&self, resolver: &Resolver) -> LocatedCredentials<'_> {
        let root = Location::new("/".into());
        let home = self.home.as_ref();
        let resolved_home = home.and_then(|home| resolver.resolve(&home.path).ok());
        let home = home.map(|home| &home.normalised);
        let mut linked = Vec::new();
        // A pattern is not a path that could be resolved.
        for entry in ENTRIES.iter().filter(|entry| !entry.is_pattern) {
            let base = match &resolved_home {
                _ if !entry.is_in_home => &root.path,
                Some(home) => home,
                None => continue,
            };
            if let Ok(path) = resolver.resolve_below(base.clone(), entry.path)
                && path.strip_prefix(base) != Ok(entry.path)
            {
                linked.push((entry.place, Location::new(path)));
            }
        }
        let is_linked = |resolved: &PathBuf| home.is_some_and(|home| home.path != *resolved);
        LocatedCredentials {
            root,
            home,
            resolved_home: resolved_home.filter(is_linked).map(Location::new),
            linked,
        }
    }
}

impl Entry {
    fn new(place: &'static str) -> Self {
        let path = place.trim_start_matches(['~', '/']);
        Self {
            place,
            path: Path::new(path),
            is_in_home: place.starts_with('~'),
            is_pattern: place.contains('*'),
            names: folded_names(path),
        }
    }
}

impl Location {
    fn new(path: PathBuf) -> Self {
        let text = path.to_string_lossy();
        let owned = |name: Cow<'_, str>| name.into_owned().into();
        let names = folded_names(&text).into_iter().map(owned).collect();
        Self { names, path }
    }
}

/// Credential paths, resolved to their current locations.
pub(super) struct LocatedCredentials<'a> {
    root: Location,
    /// The home directory as it is written.
    home: Option<&'a Location>,
    /// The home directory with resolved symlinks, if that is another location.
    resolved_home: Option<Location>,
    /// Locations of entries behind symlinks of their own.
    linked: Vec<(&'static str, Location)>,
}

impl LocatedCredentials<'_> {
    /// Returns how `path`, which must be absolute and normalised, touches entries.
    ///
    /// A path that can also be `in_unknown_home` touches the entries of any home directory.
    pub(super) fn touches(&self, path: &Path, in_unknown_home: bool) -> Vec<Touch> {
        let text = path.to_string_lossy();
        let names = folded_names(&text);
        let is_unlocated = in_unknown_home || self.home.is_none();
        let mut touches = Vec::new();
        for entry in ENTRIES.iter() {
            touches.extend(self.touch(entry, &names));
            // In an unknown home directory, the names of an entry can be at any position.
            if entry.is_in_home && is_unlocated && has_part(&names, &entry.names) {
                touches.push(Touch::Inside { place: entry.place });
            }
        }
        touches
    }

    fn touch(&self, entry: &Entry, path: &[Cow<'_, str>]) -> Option<Touch> {
        let Entry { place, names, .. } = entry;
        let bases = if entry.is_in_home {
            [self.home, self.resolved_home.as_ref()]
        } else {
            [Some(&self.root), None]
        };
        let written = bases.into_iter().flatten().find_map(|base| {
            let location = || base.path.join(entry.path);
            Touch::new(place, &base.names, names, path, location)
        });
        let mut linked = self.linked.iter();
        written.or_else(|| {
            let (_, location) = linked.find(|(linked, _)| linked == place)?;
            Touch::new(place, &[], &location.names, path, || location.path.clone())
        })
    }
}

/// Relation of a path to an entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Touch {
    /// The path is the entry or is inside of it.
    Inside { place: &'static str },
    /// The path is a directory that contains the entry at some depth.
    Above {
        place: &'static str,
        location: PathBuf,
    },
}

impl Touch {
    /// Compares `path` with `tail` in the directory `base`, which is `place` at `location`.
    fn new(
        place: &'static str,
        base: &[Cow<'_, str>],
        tail: &[Cow<'_, str>],
        path: &[Cow<'_, str>],
        location: impl FnOnce() -> PathBuf,
    ) -> Option<Self> {
        let (above, below) = path.split_at(path.len().min(base.len()));
        if !fits(base, above) || !fits(tail, below) {
            return None;
        }
        if below.len() >= tail.len() {
            return Some(Self::Inside { place });
        }
        let location = location();
        Some(Self::Above { place, location })
    }
}

fn folded_names(path: &str) -> Names<'_> {
    components(path).map(fold_name).collect()
}

fn has_part(names: &[Cow<'_, str>], part: &[Cow<'_, str>]) -> bool {
    !part.is_empty() && names.windows(part.len()).any(|names| fits(part, names))
}

/// Compares up to the length of the shorter one.
fn fits(pattern: &[Cow<'_, str>], names: &[Cow<'_, str>]) -> bool {
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
            let inside = |touch: &Touch| matches!(touch, Touch::Inside { .. });
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
