//! Compares a path pattern with the places of credentials.

use super::possible_paths::{CHANGED, HOME, PROJECT};
use crate::check::directories::Directories;
use crate::check::path;
use crate::check::path_pattern::{ANY, EXPANSION, STAR, may_match};
use crate::credential_places::{CREDENTIAL_PLACES, is_name_of_project_files};
use crate::policy::Policy;

/// How a path touches a place of credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// The path is the place, or is inside it.
    Inside(&'static str),
    /// The path is a directory above the place.
    Above(&'static str),
}

/// A path pattern without `.` and `..`.
#[derive(Debug)]
pub(super) struct Located {
    base: Base,
    /// In lower case: some file systems ignore case.
    components: Vec<String>,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Root,
    /// The home of a user.
    Home,
    /// An unknown directory.
    Unknown,
}

/// Finds the absolute paths that `pattern` may mean in the directories `here`.
pub(super) fn locate(pattern: &str, here: &Directories<'_>) -> Vec<Located> {
    let (first, rest) = pattern.split_once('/').unwrap_or((pattern, ""));
    let is_here = matches!(first, "~+" | "~-") || first == PROJECT;
    if pattern.starts_with('/') {
        vec![Located::new(Base::Root, pattern)]
    } else if is_here {
        below(&format!("./{rest}"), here)
    } else if first == HOME || first.starts_with('~') {
        vec![Located::new(Base::Home, rest)]
    } else if first.contains(CHANGED) || (first.starts_with(EXPANSION) && first.len() == 1) {
        vec![Located::new(Base::Unknown, rest)]
    } else {
        below(pattern, here)
    }
}

fn below(relative: &str, here: &Directories<'_>) -> Vec<Located> {
    match here.resolve(relative) {
        Some(places) => places
            .iter()
            .map(|place| Located::new(Base::Root, place))
            .collect(),
        None => vec![Located::new(Base::Unknown, relative)],
    }
}

/// Returns whether a place of credentials may be in `directory`, which is absolute and normal.
pub(crate) fn may_hold_places(directory: &str, home: Option<&str>) -> bool {
    let located = Located::new(Base::Root, directory);
    let in_home = located.in_home(home);
    let mut places = CREDENTIAL_PLACES.iter();
    places.any(|place| located.touch_place(place, &in_home, false).is_some())
}

impl Located {
    fn new(mut base: Base, path: &str) -> Self {
        let mut components: Vec<String> = Vec::new();
        for component in path.split('/') {
            match component {
                "" | "." => {}
                ".." => {
                    if components.pop().is_none() && base == Base::Home {
                        base = Base::Unknown;
                    }
                }
                name => components.push(name.to_lowercase()),
            }
        }
        Self { base, components }
    }

    /// Returns how the path touches places of credentials, by the most telling one.
    pub(super) fn touch(&self, policy: &Policy) -> Option<Touch> {
        if self.is_unremarkable(policy.home()) {
            return None;
        }
        let is_outside = self.base != Base::Root || !self.is_in_reach(policy.project_dir());
        let in_home = self.in_home(policy.home());
        let mut above = None;
        for place in CREDENTIAL_PLACES {
            match self.touch_place(place, &in_home, is_outside) {
                Some(Touch::Above(place)) => above = Some(Touch::Above(place)),
                Some(inside) => return Some(inside),
                None => {}
            }
        }
        // A project that is a home can be searched.
        above.filter(|_| is_outside)
    }

    /// Rejects most paths quickly: all components are plain names, and no place begins like the path.
    fn is_unremarkable(&self, home: Option<&str>) -> bool {
        let Some(first) = self.components.first() else {
            return false;
        };
        let is_plain = |name: &String| !name.starts_with('.') && !name.contains(char::is_control);
        let is_telling = matches!(
            first.as_str(),
            "proc" | "run" | "var" | "etc" | "root" | "home" | "users"
        );
        let is_home = home.is_some_and(|home| home[1..].to_lowercase().starts_with(first));
        self.base == Base::Root && !is_telling && !is_home && self.components.iter().all(is_plain)
    }

    fn is_in_reach(&self, project: &str) -> bool {
        let path = format!("/{}", self.components.join("/"));
        path::is_within(&path, &project.to_lowercase()) || path::is_within(&path, "/tmp")
    }

    fn touch_place(
        &self,
        place: &'static str,
        in_home: &InHome<'_>,
        is_outside: bool,
    ) -> Option<Touch> {
        let touch = |is_inside| match is_inside {
            true => Touch::Inside(place),
            false => Touch::Above(place),
        };
        let Some(tail) = place.strip_prefix("~/") else {
            let is_root = self.base == Base::Root;
            return compare(&self.components, &place[1..])
                .filter(|_| is_root)
                .map(touch);
        };
        match in_home {
            InHome::Below(components) => {
                if let Some(is_inside) = compare(components, tail) {
                    return Some(touch(is_inside));
                }
            }
            InHome::AboveHomes => return Some(Touch::Above(place)),
            InHome::Elsewhere => {}
        }
        // Any directory elsewhere may be a home.
        let is_telling = is_outside && !is_name_of_project_files(place);
        let mut starts = 0..self.components.len();
        let is_inside = |at: usize| {
            let components = &self.components[at..];
            // A changed value may be anything, so it tells nothing about an unknown directory.
            !components[0].contains(CHANGED) && compare(components, tail) == Some(true)
        };
        (is_telling && starts.any(is_inside)).then_some(Touch::Inside(place))
    }

    /// Returns where the path is, seen from the homes of users.
    fn in_home(&self, home: Option<&str>) -> InHome<'_> {
        let names: Vec<&str> = self.components.iter().map(String::as_str).collect();
        match self.base {
            Base::Home => return InHome::Below(&self.components),
            Base::Unknown => return InHome::Elsewhere,
            Base::Root => {}
        }
        let known = home.unwrap_or_default().to_lowercase();
        let known: Vec<&str> = known.split('/').filter(|name| !name.is_empty()).collect();
        let is_same = known.iter().zip(&names).all(|(own, name)| own == name);
        match names[..] {
            _ if is_same && !known.is_empty() && names.len() >= known.len() => {
                InHome::Below(&self.components[known.len()..])
            }
            ["root", ..] => InHome::Below(&self.components[1..]),
            ["home" | "users", _, ..] | ["var", "root", ..] => InHome::Below(&self.components[2..]),
            [] | ["home" | "users"] => InHome::AboveHomes,
            _ if is_same && !known.is_empty() => InHome::AboveHomes,
            _ => InHome::Elsewhere,
        }
    }
}

/// Where a path is, seen from the homes of users.
enum InHome<'p> {
    /// In a home, with these components below it.
    Below(&'p [String]),
    AboveHomes,
    Elsewhere,
}

/// Compares as far as both go: `Some(true)` for a path inside the place, `Some(false)` for one above.
fn compare(components: &[String], place: &str) -> Option<bool> {
    let mut length = 0;
    for (at, own) in place.split('/').enumerate() {
        length = at + 1;
        if components.get(at).is_some_and(|name| !is_match(own, name)) {
            return None;
        }
    }
    Some(components.len() >= length)
}

/// Returns whether a component of a path may be the component `own` of a place.
fn is_match(own: &str, name: &str) -> bool {
    let is_only = |c: char| name.chars().all(|other| other == c);
    match own {
        "*" => true,
        // Nothing is known of the component.
        _ if is_only(EXPANSION) => false,
        _ if name.contains(CHANGED) => may_match(&name.replace(CHANGED, "\u{1}"), own),
        // The shell does not match a leading dot with a pattern.
        _ if own.starts_with('.') && name.starts_with([STAR, ANY]) => false,
        _ => may_match(name, own),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{PolicyConfig, PolicyScope};

    fn touch(pattern: &str, project: &str, home: Option<&str>) -> &'static str {
        let scope = PolicyScope {
            home: home.map(str::to_owned),
            ..PolicyScope::new(project)
        };
        let policy = Policy::new(scope, PolicyConfig::default()).expect("a policy");
        let here = Directories::at(policy.project_dir());
        let located = locate(pattern, &here);
        let mut touches = located.iter().filter_map(|located| located.touch(&policy));
        match touches.next() {
            None => "none",
            Some(Touch::Inside(_)) => "inside",
            Some(Touch::Above(_)) => "above",
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
            ("\u{4}/\u{1}", "none"),
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
                touch(pattern, "/srv/project", None),
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
                touch(pattern, project, home),
                expected,
                "{pattern} in {project}"
            );
        }
    }
}
