//! [`PathCandidates`], all locations that a path of a tool call can refer to.

use std::borrow::Cow;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::resolver::Resolver;
use super::{Start, normalise, path_start, trim_invisible};
use crate::gate::ProjectPaths;
use crate::tool::ToolCall;

/// All locations that a path of a tool call can refer to.
///
/// Tools interpret paths differently. Some trim them, some expand `~`, and some treat `\` as a
/// separator. Some remove `..` before they resolve symlinks, some after. A guard must accept every
/// interpretation.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PathCandidates {
    /// Absolute and normalised paths, as written and with symlinks resolved.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether the path can also be in an unknown home directory.
    pub(crate) in_unknown_home: bool,
}

impl PathCandidates {
    /// Determines the locations that `path` of `call` can refer to.
    ///
    /// # Errors
    ///
    /// A symlink in the path cannot be resolved.
    pub(crate) fn locate(
        path: &Path,
        call: &ToolCall,
        project_paths: &ProjectPaths,
        resolver: &Resolver,
    ) -> io::Result<Self> {
        let mut locator = Locator {
            cwd: project_paths.project.join(&call.cwd),
            project_paths,
            resolver,
            candidates: Self {
                paths: Vec::new(),
                in_unknown_home: false,
            },
        };
        locator.add_spelling(path)?;
        let (root, text) = split_root(path, project_paths);
        let trimmed = trim_invisible(&text);
        let mut add = |text: &str| locator.add_spelling(Path::new(&format!("{root}{text}")));
        if trimmed.len() < text.len() {
            add(trimmed)?;
        }
        if trimmed.contains('\\') {
            add(&trimmed.replace('\\', "/"))?;
        }
        Ok(locator.candidates)
    }
}

/// Collects the candidates of one path.
struct Locator<'a> {
    cwd: PathBuf,
    project_paths: &'a ProjectPaths,
    resolver: &'a Resolver,
    candidates: PathCandidates,
}

impl Locator<'_> {
    fn add_spelling(&mut self, path: &Path) -> io::Result<()> {
        self.add_location(&self.cwd.join(path))?;
        match (path_start(path), &self.project_paths.home) {
            (Start::Here, _) => Ok(()),
            (Start::Home(rest), Some(home)) => self.add_location(&home.join(rest)),
            (Start::Home(_), None) | (Start::OtherHome, _) => {
                self.candidates.in_unknown_home = true;
                Ok(())
            }
        }
    }

    fn add_location(&mut self, path: &Path) -> io::Result<()> {
        let lexical = normalise(path);
        self.add(self.resolver.resolve(path)?);
        // Without `..`, both interpretations are the same.
        if path.components().any(|part| part == Component::ParentDir) {
            self.add(self.resolver.resolve(&lexical)?);
        }
        self.add(self.project_paths.without_link(lexical));
        Ok(())
    }

    fn add(&mut self, path: PathBuf) {
        if !self.candidates.paths.contains(&path) {
            self.candidates.paths.push(path);
        }
    }
}

/// Splits `path` into the root of the project, if it starts with it, and the rest.
///
/// Only the rest has alternative interpretations. The operator named the root, so spaces and `\` in
/// it are ordinary characters.
fn split_root<'p>(path: &'p Path, project_paths: &'p ProjectPaths) -> (Cow<'p, str>, Cow<'p, str>) {
    let roots = [
        Some(&project_paths.project),
        project_paths.project_link.as_ref(),
    ];
    let found = roots
        .into_iter()
        .flatten()
        .find_map(|root| Some((root, path.strip_prefix(root).ok()?)));
    match found {
        Some((root, below)) => {
            let below = format!("/{}", below.to_string_lossy());
            (root.to_string_lossy(), below.into())
        }
        None => ("".into(), path.to_string_lossy()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn candidates(path: &str, project_paths: &ProjectPaths) -> PathCandidates {
        let call = ToolCall::new("Read", json!({})).in_dir("/srv/project");
        PathCandidates::locate(Path::new(path), &call, project_paths, &Resolver::default())
            .expect("it can be resolved")
    }

    #[test]
    fn a_tilde_can_be_a_name_or_the_home() {
        let with_home = ProjectPaths::new("/srv/project").with_home("/no-home/user");

        let known = candidates("~/a", &with_home);
        let unknown = candidates("~/a", &ProjectPaths::new("/srv/project"));

        assert!(!known.in_unknown_home);
        assert_eq!(
            known.paths,
            [Path::new("/srv/project/~/a"), Path::new("/no-home/user/a")]
        );
        assert!(unknown.in_unknown_home);
        assert!(candidates("~other/a", &with_home).in_unknown_home);
    }

    #[test]
    fn surrounding_blanks_can_be_trimmed() {
        let project_paths = ProjectPaths::new("/srv/project").with_home("/no-home/user");

        assert_eq!(
            candidates(" /no-etc/a", &project_paths).paths,
            [Path::new("/srv/project/ /no-etc/a"), Path::new("/no-etc/a")]
        );
        assert!(
            candidates("\t~/a\u{200b}", &project_paths)
                .paths
                .contains(&PathBuf::from("/no-home/user/a"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_can_be_a_letter_or_a_separator() {
        let located = candidates("..\\..\\x", &ProjectPaths::new("/srv/project"));

        assert_eq!(
            located.paths,
            [Path::new("/srv/project/..\\..\\x"), Path::new("/x")]
        );
    }

    #[test]
    fn spaces_and_backslashes_in_the_project_path_are_ordinary_characters() {
        let root = "/srv/a\\b ";
        let project_paths = ProjectPaths::new(root).with_project_link("/home/l\\k ");
        let candidates = |path: &str| {
            let call = ToolCall::new("Read", json!({})).in_dir(root);
            let located = PathCandidates::locate(
                Path::new(path),
                &call,
                &project_paths,
                &Resolver::default(),
            );
            located.expect("it can be resolved").paths
        };

        assert_eq!(candidates(root), [Path::new(root)]);
        for path in ["/srv/a\\b /x", "/home/l\\k /x", "x"] {
            assert!(candidates(path).contains(&"/srv/a\\b /x".into()), "{path}");
            let is_outside =
                |place: &PathBuf| !place.starts_with(root) && !place.starts_with("/home");
            assert!(!candidates(path).iter().any(is_outside), "{path}");
        }
        // Below the root, both interpretations count.
        for path in ["/srv/a\\b /..\\x", "/home/l\\k /..\\x"] {
            let is_outside =
                |place: &PathBuf| !place.starts_with(root) && !place.starts_with("/home/l\\k ");
            assert!(candidates(path).iter().any(is_outside), "{path}");
        }
        assert!(candidates("/srv/a\\b /.git ").contains(&"/srv/a\\b /.git".into()));
    }
}
