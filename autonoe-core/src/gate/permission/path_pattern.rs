//! Patterns for paths: `./src/**`, `/etc/*.conf`, `~/notes/?.md`.

use std::path::{Component, Path, PathBuf};

use super::wildcard::{Wildcard, matches_all};
use crate::gate::ProjectPaths;
use crate::gate::lexical_path::normalise;
use crate::gate::lexical_path::resolver::Resolver;

/// Pattern for absolute paths, compared component by component.
///
/// `*` and `?` match within a component. `**` matches any number of components, including none, so
/// `./**` covers the project itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PathPattern {
    base: Base,
    /// Number of directories above the base at which the pattern starts.
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
    fn matches_ignoring_case(&self, name: &str) -> bool {
        match self {
            Self::Anything => true,
            Self::Name(wildcard) => wildcard.matches_ignoring_case(name),
        }
    }
}

impl PathPattern {
    /// Parses `text`. The error describes the problem.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains(['[', ']', '{', '}', '\\']) {
            return Err(
                "a path pattern may only use the wildcards *, ? and **, and / as the separator",
            );
        }
        let (base, below) = match text.strip_prefix('~') {
            Some(below) if below.is_empty() || below.starts_with('/') => (Base::Home, below),
            Some(_) => return Err("only your own home directory is supported, as ~/"),
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
                Some(_) => return Err("\"..\" cannot follow a wildcard"),
            },
            "**" => self.parts.push(Part::Anything),
            _ if name.contains("**") => return Err("\"**\" must be a whole component"),
            _ => self
                .parts
                .push(Part::Name(Wildcard::with_star_and_question(name))),
        }
        Ok(())
    }

    /// Returns whether the pattern starts at the home directory of the user.
    pub(super) fn needs_home(&self) -> bool {
        self.base == Base::Home
    }

    /// Returns the directory at which the pattern starts; `None` if the home directory is unknown.
    fn start(&self, project_paths: &ProjectPaths) -> Option<PathBuf> {
        let base = match self.base {
            Base::Root => Path::new("/"),
            Base::Project => &project_paths.project,
            Base::Home => project_paths.home.as_deref()?,
        };
        let base = normalise(base);
        // The parent of the root is the root, as for every path.
        let start = base.ancestors().nth(self.up).unwrap_or(Path::new("/"));
        Some(start.to_owned())
    }

    /// Returns whether `path`, which must be absolute and normalised, matches the pattern or is
    /// below a match. Used for blocking, so letter case is ignored.
    pub(super) fn touches(&self, path: &Path, project_paths: &ProjectPaths) -> bool {
        let mut parts: Vec<_> = self.parts.iter().collect();
        parts.push(&Part::Anything);
        self.is_any_start(project_paths, |start| {
            folded(path).strip_prefix(start).is_some_and(|names| {
                matches_all(
                    &parts,
                    names,
                    |part| **part == Part::Anything,
                    |part, name| part.matches_ignoring_case(name),
                )
            })
        })
    }

    /// Returns whether something below `path` may match the pattern.
    pub(super) fn reaches(&self, path: &Path, project_paths: &ProjectPaths) -> bool {
        let path = folded(path);
        self.is_any_start(project_paths, |start| {
            let below = path.strip_prefix(start).is_some_and(|names| {
                let fixed = self
                    .parts
                    .iter()
                    .take_while(|part| **part != Part::Anything);
                let fits = |(part, name): (&Part, &String)| part.matches_ignoring_case(name);
                let is_open = self.parts.contains(&Part::Anything);
                (is_open || names.len() <= self.parts.len()) && fixed.zip(names).all(fits)
            });
            below || start.starts_with(&path)
        })
    }

    /// Returns whether `predicate` holds for any form of the start of the pattern. An unknown start
    /// can be anywhere, so it counts as a match.
    fn is_any_start(
        &self,
        project_paths: &ProjectPaths,
        predicate: impl Fn(&[String]) -> bool,
    ) -> bool {
        match self.start(project_paths) {
            Some(start) => Resolver::default()
                .lexical_and_resolved(&start)
                .iter()
                .any(|start| predicate(&folded(start))),
            None => true,
        }
    }

    /// Returns whether the pattern matches `path`, which must be absolute and normalised.
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

/// Returns the components as lower-case text.
fn folded(path: &Path) -> Vec<String> {
    let names = path.components().filter(|part| *part != Component::RootDir);
    names
        .map(|part| part.as_os_str().to_string_lossy().to_lowercase())
        .collect()
}

/// Returns the components as text; `None` for a path that is not valid Unicode, which matches no
/// pattern.
fn names(path: &Path) -> Option<Vec<&str>> {
    path.components()
        .filter(|part| *part != Component::RootDir)
        .map(|part| part.as_os_str().to_str())
        .collect()
}

#[cfg(test)]
mod tests;
