//! Patterns of paths: `./src/**`, `/etc/*.conf`, `~/notes/?.md`.

use std::path::{Component, Path, PathBuf};

use super::wildcard::{Wildcard, matches_all};
use crate::port::ProjectPaths;
use crate::port::lexical_path::meanings::both_forms;
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

impl Part {
    fn fits_in_any_case(&self, name: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Name(wildcard) => wildcard.matches_in_any_case(name),
        }
    }
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
    fn start(&self, project_paths: &ProjectPaths) -> Option<PathBuf> {
        let base = match self.base {
            Base::Root => Path::new("/"),
            Base::Project => &project_paths.project,
            Base::Home => project_paths.home.as_deref()?,
        };
        let base = normalise(base);
        // An ancestor that does not exist is the root, as for every path.
        let start = base.ancestors().nth(self.up).unwrap_or(Path::new("/"));
        Some(start.to_owned())
    }

    /// Tells whether `path`, which is absolute and normal, is something that the pattern fits, or
    /// is below it. For blocking: letter case does not matter.
    pub(super) fn touches(&self, path: &Path, project_paths: &ProjectPaths) -> bool {
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.push(&Part::Anything);
        self.is_any_start(project_paths, |start| {
            folded(path).strip_prefix(start).is_some_and(|names| {
                matches_all(
                    &parts,
                    names,
                    |part| **part == Part::Anything,
                    |part, name| part.fits_in_any_case(name),
                )
            })
        })
    }

    /// Tells whether something that the pattern fits may lie below `path`.
    pub(super) fn reaches(&self, path: &Path, project_paths: &ProjectPaths) -> bool {
        let path = folded(path);
        self.is_any_start(project_paths, |start| {
            let below = path.strip_prefix(start).is_some_and(|names| {
                let fixed = self
                    .parts
                    .iter()
                    .take_while(|part| **part != Part::Anything);
                let fits = |(part, name): (&Part, &String)| part.fits_in_any_case(name);
                let is_open = self.parts.contains(&Part::Anything);
                (is_open || names.len() <= self.parts.len()) && fixed.zip(names).all(fits)
            });
            below || start.starts_with(&path)
        })
    }

    /// Asks about each place where the pattern can start; one that is not known can be anywhere.
    fn is_any_start(&self, project_paths: &ProjectPaths, is: impl Fn(&[String]) -> bool) -> bool {
        match self.start(project_paths) {
            Some(start) => both_forms(&start).iter().any(|start| is(&folded(start))),
            None => true,
        }
    }

    /// Tells whether the pattern fits `path`, which is absolute and normal.
    pub(super) fn covers(&self, path: &Path, project_paths: &ProjectPaths) -> bool {
        let Some(start) = self.start(project_paths) else {
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

/// Returns the components as text in lower case.
fn folded(path: &Path) -> Vec<String> {
    let names = path.components().filter(|part| *part != Component::RootDir);
    names
        .map(|part| part.as_os_str().to_string_lossy().to_lowercase())
        .collect()
}

/// Returns the components as text; a path that is not text fits no pattern.
fn names(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter(|part| *part != Component::RootDir)
        .map(|part| part.as_os_str().to_str())
        .collect()
}

#[cfg(test)]
mod tests;
