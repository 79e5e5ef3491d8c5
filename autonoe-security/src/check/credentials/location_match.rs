//! Matches path patterns against the known locations of credentials.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::possible_paths::{CHANGED, HOME, PROJECT};
use crate::check::directories::Directories;
use crate::check::path;
use crate::check::path_pattern::{ANY, EXPANSION, STAR, may_match};
use crate::credential_paths::{CREDENTIAL_PATHS, is_name_of_project_files};
use crate::policy::Policy;

/// The relation of a path to a credential location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LocationMatch {
    /// The path is the location, or is inside it.
    Inside(&'static str),
    /// The path is a directory above the location.
    Above(&'static str),
}

/// A path pattern without `.` and `..`.
#[derive(Debug)]
struct PathPattern<'p> {
    base: Base,
    components: Vec<Component<'p>>,
}

/// A component of a path pattern.
#[derive(Debug)]
struct Component<'p> {
    /// The name in lower case, because some file systems ignore case.
    name: Cow<'p, str>,
    /// Whether it has no unknown part.
    is_known: bool,
}

/// A credential location, split once for all comparisons.
struct Place {
    text: &'static str,
    components: Vec<&'static str>,
    is_in_home: bool,
    /// Whether projects have a file of the same name.
    is_common: bool,
}

static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let places = CREDENTIAL_PATHS.iter().map(|text| Place {
        text,
        components: text.split('/').skip(1).collect(),
        is_in_home: text.starts_with("~/"),
        is_common: is_name_of_project_files(text),
    });
    places.collect()
});

/// The only directory without a dot in which a home has credentials.
const LIBRARY: &str = "Library";

/// The start of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Root,
    /// The home of a user.
    Home,
    /// An unknown directory.
    Unknown,
}

/// Rejects most paths quickly: the components are plain names, and no location starts like the
/// path.
fn is_unremarkable(path: &str, policy: &Policy) -> bool {
    let Some(below_root) = path.strip_prefix('/') else {
        return false;
    };
    let first = below_root.split('/').next().unwrap_or_default();
    let is_first = |name: &str| name.eq_ignore_ascii_case(first);
    let reporting = [
        "", "proc", "run", "var", "etc", "root", "home", "users", "library",
    ];
    let home = policy.home().and_then(|home| home.split('/').nth(1));
    let is_plain = || !path.contains("/.") && path.bytes().all(|byte| matches!(byte, 32..127));
    !reporting.into_iter().chain(home).any(is_first) && is_plain()
}

/// Finds the credential location that `pattern` may resolve to from the directories `here`.
pub(super) fn find(
    pattern: &str,
    here: &Directories<'_>,
    policy: &Policy,
) -> Option<LocationMatch> {
    if is_unremarkable(pattern, policy) {
        return None;
    }
    if pattern.starts_with('/') {
        return PathPattern::new(Base::Root, pattern).find_place(policy);
    }
    let (first, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
    let is_here = matches!(first, "~+" | "~-") || first == PROJECT;
    if is_here {
        find_below(&format!("./{rest}"), here, policy)
    } else if first == HOME || first.starts_with('~') {
        PathPattern::new(Base::Home, rest).find_place(policy)
    } else if first.contains(CHANGED) || (first.starts_with(EXPANSION) && first.len() == 1) {
        PathPattern::new(Base::Unknown, rest).find_place(policy)
    } else {
        find_below(pattern, here, policy)
    }
}

fn find_below(relative: &str, here: &Directories<'_>, policy: &Policy) -> Option<LocationMatch> {
    // Most paths stay in the project, and most projects contain no credential location.
    let holds_none = !policy.project_holds_credentials();
    if holds_none && here.is_in_project() && path::stays_below(relative) {
        return None;
    }
    let Some(places) = here.resolve(relative) else {
        return PathPattern::new(Base::Unknown, relative).find_place(policy);
    };
    let mut above = None;
    for place in places
        .iter()
        .filter(|place| !is_unremarkable(place, policy))
    {
        match PathPattern::new(Base::Root, place).find_place(policy) {
            Some(LocationMatch::Above(place)) => above = Some(LocationMatch::Above(place)),
            Some(inside) => return Some(inside),
            None => {}
        }
    }
    above
}

/// Returns whether a credential location may be in `directory`, which is absolute and normalized.
pub(crate) fn may_contain_credentials(directory: &str, home: Option<&str>) -> bool {
    let pattern = PathPattern::new(Base::Root, directory);
    let in_home = pattern.in_home(home);
    let mut places = PLACES.iter();
    places.any(|place| pattern.match_place(place, &in_home, false).is_some())
}

impl<'p> Component<'p> {
    fn new(name: &'p str) -> Self {
        // Most names have neither capitals nor unknown parts.
        let is_plain = |byte| matches!(byte, b' '..=b'@' | b'['..=b'~');
        if name.bytes().all(is_plain) {
            return Self {
                name: Cow::Borrowed(name),
                is_known: true,
            };
        }
        Self {
            name: Cow::Owned(name.to_lowercase()),
            is_known: !name.contains(char::is_control),
        }
    }

    /// Returns whether the component is `name`, ignoring case.
    fn is(&self, name: &str) -> bool {
        if name.is_ascii() {
            self.name.eq_ignore_ascii_case(name)
        } else {
            self.name == name.to_lowercase()
        }
    }
}

impl<'p> PathPattern<'p> {
    fn new(mut base: Base, path: &'p str) -> Self {
        let mut components: Vec<Component<'_>> = Vec::new();
        for component in path.split('/') {
            match component {
                "" | "." => {}
                ".." => {
                    if components.pop().is_none() && base == Base::Home {
                        base = Base::Unknown;
                    }
                }
                name => components.push(Component::new(name)),
            }
        }
        Self { base, components }
    }

    /// Finds the location that the path leads to. A location that contains the path takes
    /// precedence.
    fn find_place(&self, policy: &Policy) -> Option<LocationMatch> {
        let is_outside = self.base != Base::Root
            || !(self.is_within(policy.project_dir()) || self.is_within("/tmp"));
        let in_home = self.in_home(policy.home());
        // Each location in a home starts with a dot, or is in the library of macOS.
        let may_be_in_home = match in_home {
            InHome::AboveHomes | InHome::Below([]) => true,
            InHome::Below(_) | InHome::Other => {
                let mut components = self.components.iter();
                components.any(|it| !it.is_known || it.name.starts_with('.') || it.is(LIBRARY))
            }
        };
        let mut above = None;
        let places = PLACES.iter();
        for place in places.filter(|place| may_be_in_home || !place.is_in_home) {
            match self.match_place(place, &in_home, is_outside) {
                Some(LocationMatch::Above(place)) => above = Some(LocationMatch::Above(place)),
                Some(inside) => return Some(inside),
                None => {}
            }
        }
        // A project that is a home can be searched.
        above.filter(|_| is_outside)
    }

    /// Returns whether the path is `folder` or inside it. The root is inside nothing.
    fn is_within(&self, folder: &str) -> bool {
        let mut own = self.components.iter();
        let mut names = folder.split('/').filter(|name| !name.is_empty());
        !self.components.is_empty() && names.all(|name| own.next().is_some_and(|it| it.is(name)))
    }

    fn match_place(
        &self,
        place: &Place,
        in_home: &InHome<'_, '_>,
        is_outside: bool,
    ) -> Option<LocationMatch> {
        let found = |is_inside| {
            if is_inside {
                LocationMatch::Inside(place.text)
            } else {
                LocationMatch::Above(place.text)
            }
        };
        if !place.is_in_home {
            if self.base != Base::Root {
                return None;
            }
            return compare(&self.components, place).map(found);
        }
        match in_home {
            InHome::Below(components) => {
                if let Some(is_inside) = compare(components, place) {
                    return Some(found(is_inside));
                }
            }
            InHome::AboveHomes => return Some(LocationMatch::Above(place.text)),
            InHome::Other => {}
        }
        // Any directory outside the project may be a home.
        let is_reporting = is_outside && !place.is_common;
        let mut starts = 0..self.components.len();
        let is_inside = |at: usize| {
            let components = &self.components[at..];
            // A changed value may be anything, so it says nothing about an unknown directory.
            !components[0].name.contains(CHANGED) && compare(components, place) == Some(true)
        };
        (is_reporting && starts.any(is_inside)).then_some(LocationMatch::Inside(place.text))
    }

    /// Returns the position of the path relative to the homes of users.
    fn in_home(&self, home: Option<&str>) -> InHome<'_, 'p> {
        match self.base {
            Base::Home => return InHome::Below(&self.components),
            Base::Unknown => return InHome::Other,
            Base::Root => {}
        }
        let home = home.unwrap_or_default();
        let known = home.split('/').filter(|name| !name.is_empty());
        let is_same = known
            .clone()
            .zip(&self.components)
            .all(|(own, it)| it.is(own));
        let depth = known.count();
        let is_same = is_same && depth > 0;
        let name = |at: usize| self.components.get(at).map(|it| it.name.as_ref());
        match (name(0), name(1)) {
            _ if is_same && self.components.len() >= depth => {
                InHome::Below(&self.components[depth..])
            }
            (Some("root"), _) => InHome::Below(&self.components[1..]),
            (Some("home" | "users"), Some(_)) | (Some("var"), Some("root")) => {
                InHome::Below(&self.components[2..])
            }
            (None, _) | (Some("home" | "users"), None) => InHome::AboveHomes,
            _ if is_same => InHome::AboveHomes,
            _ => InHome::Other,
        }
    }
}

/// The position of a path relative to the homes of users.
enum InHome<'l, 'p> {
    /// In a home, with these components below it.
    Below(&'l [Component<'p>]),
    AboveHomes,
    Other,
}

/// Compares the common length: `Some(true)` for a path inside the location, `Some(false)` for one
/// above it.
fn compare(components: &[Component<'_>], place: &Place) -> Option<bool> {
    let mut pairs = place.components.iter().zip(components);
    pairs
        .all(|(own, component)| is_match(own, component))
        .then_some(components.len() >= place.components.len())
}

/// Returns whether a component of a path may be the component `own` of a location.
fn is_match(own: &str, component: &Component<'_>) -> bool {
    let name = component.name.as_ref();
    let is_only = |c: char| name.chars().all(|other| other == c);
    match own {
        "*" => true,
        _ if component.is_known => own.eq_ignore_ascii_case(name),
        // The component is completely unknown.
        _ if is_only(EXPANSION) => false,
        _ if name.contains(CHANGED) => {
            may_match(&name.replace(CHANGED, "\u{1}"), &own.to_ascii_lowercase())
        }
        // Patterns of the shell do not match a leading dot.
        _ if own.starts_with('.') && name.starts_with([STAR, ANY]) => false,
        _ => may_match(name, &own.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{PolicyConfig, PolicyScope};

    fn found_location(pattern: &str, project: &str, home: Option<&str>) -> &'static str {
        let scope = PolicyScope {
            home: home.map(str::to_owned),
            ..PolicyScope::new(project)
        };
        let policy = Policy::new(scope, PolicyConfig::default()).expect("a policy");
        let here = Directories::at(policy.project_dir());
        match find(pattern, &here, &policy) {
            None => "none",
            Some(LocationMatch::Inside(_)) => "inside",
            Some(LocationMatch::Above(_)) => "above",
        }
    }

    #[test]
    fn each_place_in_a_home_begins_with_a_dot_or_is_in_the_library() {
        let in_homes = PLACES.iter().filter(|place| place.is_in_home);
        for place in in_homes {
            let first = place.components[0];
            assert!(first.starts_with('.') || first == LIBRARY, "{}", place.text);
        }
    }

    #[test]
    fn a_path_is_inside_a_place_or_above_one_or_neither() {
        for (pattern, expected) in [
            ("~/.ssh/id_rsa", "inside"),
            ("~root/.SSH", "inside"),
            ("~/code/../.ssh", "inside"),
            ("~/../u/.ssh", "inside"),
            ("~/.npmrc", "inside"),
            ("~/.config/gh/hosts.yml", "inside"),
            ("\u{4}/.aws/credentials", "inside"),
            ("\u{4}/.s\u{1}/id", "inside"),
            ("\u{4}/.\u{1}", "inside"),
            ("\u{3}/.ssh/id_rsa", "inside"),
            ("\u{6}/.ssh/id_rsa", "inside"),
            ("/etc/\u{6}", "inside"),
            ("\u{4}/\u{6}", "inside"),
            ("/root/.ssh/id_rsa", "inside"),
            ("/home/\u{1}/.ssh/id_rsa", "inside"),
            ("/home/u/.npmrc", "inside"),
            ("/Users/u/.netrc", "inside"),
            ("/data/me/.ssh/x", "inside"),
            ("../../root/.ssh/x", "inside"),
            ("//etc/./shadow", "inside"),
            ("/etc/sha\u{1}", "inside"),
            ("/etc/\u{1}", "inside"),
            ("/proc/self/root/etc/shadow", "inside"),
            ("/run/secrets/token", "inside"),
            ("~", "above"),
            ("\u{4}/.config", "above"),
            ("/", "above"),
            ("/home", "above"),
            ("/home/u", "above"),
            ("/etc", "above"),
            ("../..", "above"),
            // `*` matches the library of macOS, which contains the keychains.
            ("\u{4}/\u{1}", "above"),
            ("\u{4}/\u{3}", "none"),
            ("~/code", "none"),
            ("~+/.npmrc", "none"),
            ("/etc/\u{1}-release", "none"),
            ("/etc/hosts", "none"),
            (".npmrc", "none"),
            ("fixtures/.ssh/id_rsa", "none"),
            ("/tmp/x/.ssh/id_rsa", "none"),
            ("\u{3}/.npmrc", "none"),
            ("\u{3}/\u{6}", "none"),
            ("\u{6}/a.ts", "none"),
            ("/usr/lib/\u{6}/x", "none"),
            ("\u{3}/\u{3}", "none"),
            ("\u{5}/.npmrc", "none"),
            ("..", "none"),
            (".", "none"),
        ] {
            assert_eq!(
                found_location(pattern, "/srv/project", None),
                expected,
                "{pattern:?}"
            );
        }
    }

    #[test]
    fn a_home_that_is_the_project_or_elsewhere_is_known() {
        for (pattern, project, home, expected) in [
            (".ssh/id_rsa", "/home/u", None, "inside"),
            (".", "/home/u", None, "none"),
            ("src", "/home/u", None, "none"),
            (".npmrc", "/home/u/code/app", None, "none"),
            ("../..", "/home/u/code/app", None, "above"),
            ("/data/me/.npmrc", "/srv/p", Some("/data/me"), "inside"),
            ("/data", "/srv/p", Some("/data/me"), "above"),
            (".npmrc", "/data/me", Some("/data/me"), "inside"),
        ] {
            assert_eq!(
                found_location(pattern, project, home),
                expected,
                "{pattern} in {project}"
            );
        }
    }
}
