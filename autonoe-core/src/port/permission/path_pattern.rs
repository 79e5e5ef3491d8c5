//! Patterns of paths: `./src/**`, `/etc/*.conf`, `~/notes/?.md`.

use std::path::{Component, Path, PathBuf};

use super::wildcard::{Wildcard, matches_all};
use crate::port::Places;
use crate::port::lexical_path::normalise;

/// A pattern of absolute paths, compared component by component.
///
/// `*` and `?` stay within a component. `**` takes any number of components,
/// also none, so `./**` covers the project itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPattern {
    base: Base,
    /// How many directories above the base it starts.
    up: usize,
    parts: Vec<Part>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    Project,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Anything,
    Name(Wildcard),
}

impl PathPattern {
    /// Parses `text`, or says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains(['[', ']', '{', '}', '\\']) {
            return Err("paths know the wildcards *, ? and ** only, and / between names");
        }
        let (base, below) = match text.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => (Base::Home, below),
            Some(_) => return Err("only the own home can be named, as ~/"),
            None if text.starts_with('/') => (Base::Root, text),
            None => (Base::Project, text),
        };
        let mut pattern = Self {
            base,
            up: 0,
            parts: Vec::new(),
        };
        for name in below.split('/') {
            pattern.push(name)?;
        }
        Ok(pattern)
    }

    fn push(&mut self, name: &str) -> Result<(), &'static str> {
        match name {
            "" | "." => {}
            ".." => match self.parts.pop() {
                None => self.up += 1,
                Some(Part::Name(last)) if last.is_literal() => {}
                Some(_) => return Err("\"..\" cannot stand behind a wildcard"),
            },
            "**" => self.parts.push(Part::Anything),
            _ if name.contains("**") => return Err("\"**\" must be a whole component"),
            _ => self
                .parts
                .push(Part::Name(Wildcard::with_star_and_question(name))),
        }
        Ok(())
    }

    /// Tells whether the pattern speaks of the user's home.
    pub(super) fn needs_home(&self) -> bool {
        self.base == Base::Home
    }

    /// Returns where the pattern starts; `None` when the home is not known.
    fn start(&self, places: &Places) -> Option<PathBuf> {
        let base = match self.base {
            Base::Root => Path::new("/"),
            Base::Project => &places.project,
            Base::Home => places.home.as_deref()?,
        };
        let base = normalise(base);
        // An ancestor that does not exist is the root, as for every path.
        let start = base.ancestors().nth(self.up).unwrap_or(Path::new("/"));
        Some(start.to_owned())
    }

    /// Tells whether something that the pattern fits lies at, or may lie below, `path`.
    pub(super) fn reaches(&self, path: &Path, places: &Places) -> bool {
        let Some(start) = self.start(places) else {
            return true;
        };
        if start.starts_with(path) || self.covers(path, places) {
            return true;
        }
        let Some(names) = path.strip_prefix(&start).ok().and_then(names) else {
            return false;
        };
        for (index, name) in names.iter().enumerate() {
            match self.parts.get(index) {
                Some(Part::Anything) => return true,
                Some(Part::Name(wildcard)) if wildcard.matches(name) => {}
                _ => return false,
            }
        }
        true
    }

    /// Tells whether the pattern fits `path`, which is absolute and normal.
    pub(super) fn covers(&self, path: &Path, places: &Places) -> bool {
        let Some(start) = self.start(places) else {
            return false;
        };
        let Ok(below) = path.strip_prefix(start) else {
            return false;
        };
        let Some(names) = names(below) else {
            return false;
        };
        matches_all(
            &self.parts,
            &names,
            |part| *part == Part::Anything,
            |part, name| match part {
                Part::Anything => true,
                Part::Name(wildcard) => wildcard.matches(name),
            },
        )
    }
}

/// Returns the components as text; a path that is not text fits no pattern.
fn names(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter(|part| *part != Component::RootDir)
        .map(|part| part.as_os_str().to_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places() -> Places {
        Places::new("/srv/project").with_home("/home/user")
    }

    fn covers(pattern: &str, path: &str) -> bool {
        let pattern = PathPattern::parse(pattern).expect("the pattern is valid");
        pattern.covers(&normalise(Path::new(path)), &places())
    }

    #[test]
    fn patterns_cover_what_they_say() {
        for (pattern, path, covered) in [
            ("./**", "/srv/project", true),
            ("./**", "/srv/project/a/b.rs", true),
            ("./**", "/srv/project-other/a", false),
            ("./**", "/srv", false),
            ("./**", "/srv/project/../secret", false),
            ("src/**", "/srv/project/src/a/b", true),
            ("src/**", "/srv/project/test/a", false),
            ("src/*.rs", "/srv/project/src/a.rs", true),
            ("src/*.rs", "/srv/project/src/a/b.rs", false),
            ("src/?.rs", "/srv/project/src/ab.rs", false),
            ("**/b.rs", "/srv/project/b.rs", true),
            ("**/b.rs", "/srv/project/x/y/b.rs", true),
            ("a/**/b/**/c", "/srv/project/a/x/b/y/z/c", true),
            ("a/**/b/**/c", "/srv/project/a/x/y/z/c", false),
            (".", "/srv/project", true),
            (".", "/srv/project/a", false),
            ("../shared/*", "/srv/shared/a", true),
            ("a/../b", "/srv/project/b", true),
            ("../../../../etc/*", "/etc/hosts", true),
            ("/etc/**", "/etc/a/b", true),
            ("//etc/**", "/etc/a/b", true),
            ("/etc/**", "/srv/project/etc/a", false),
            ("~/notes/**", "/home/user/notes/a", true),
            ("~/notes/**", "/home/other/notes/a", false),
            ("~", "/home/user", true),
        ] {
            assert_eq!(covers(pattern, path), covered, "{pattern} {path}");
        }
    }

    #[test]
    fn without_a_home_the_tilde_covers_nothing() {
        let pattern = PathPattern::parse("~/**").expect("the pattern is valid");

        assert!(!pattern.covers(Path::new("/home/user/a"), &Places::new("/srv/project")));
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for text in [
            "[ab]",
            "{a,b}",
            "a\\b",
            "~other/x",
            "*/../x",
            "**/../x",
            "a**b",
            "src/**.rs",
        ] {
            assert!(PathPattern::parse(text).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn a_hostile_pattern_takes_no_time() {
        let pattern = format!("{}b", "**/a*a*/".repeat(200));
        let path = format!("/srv/project/{}", "aaaaaaaa/".repeat(2_000));

        assert!(!covers(&pattern, &path));
    }

    proptest! {
        #[test]
        fn nothing_outside_the_project_is_covered_by_all_of_it(path in "(/|\\.\\./|srv/|project/|[a-z~.]{1,3}/){0,12}") {
            let normal = normalise(&Path::new("/srv/project").join(path));

            let covered = covers("./**", &normal.to_string_lossy());

            prop_assert_eq!(covered, normal.starts_with("/srv/project"));
        }
    }
}
