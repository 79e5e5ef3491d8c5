//! [`PathCandidates`], all locations that a path of a tool call can refer to, and the resolution of its symlinks.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

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
    // The few `lstat` calls in here are fast, so they run on the thread of the caller: a separate
    // task would cost more.
    pub(crate) fn locate(
        path: &Path,
        call: &ToolCall,
        project_paths: &ProjectPaths,
    ) -> io::Result<Self> {
        let mut meanings = Self {
            paths: Vec::new(),
            in_unknown_home: false,
        };
        let cwd = project_paths.project.join(&call.cwd);
        meanings.add_spelling(path, &cwd, project_paths)?;
        let (root, text) = split_root(path, project_paths);
        let trimmed = trim_invisible(&text);
        let mut add = |text: &str| {
            meanings.add_spelling(Path::new(&format!("{root}{text}")), &cwd, project_paths)
        };
        if trimmed.len() < text.len() {
            add(trimmed)?;
        }
        if trimmed.contains('\\') {
            add(&trimmed.replace('\\', "/"))?;
        }
        Ok(meanings)
    }

    fn add_spelling(
        &mut self,
        path: &Path,
        cwd: &Path,
        project_paths: &ProjectPaths,
    ) -> io::Result<()> {
        self.add_place(&cwd.join(path), project_paths)?;
        match (path_start(path), &project_paths.home) {
            (Start::Here, _) => Ok(()),
            (Start::Home(rest), Some(home)) => self.add_place(&home.join(rest), project_paths),
            (Start::Home(_), None) | (Start::OtherHome, _) => {
                self.in_unknown_home = true;
                Ok(())
            }
        }
    }

    fn add_place(&mut self, path: &Path, project_paths: &ProjectPaths) -> io::Result<()> {
        let lexical = normalise(path);
        let (followed, normal) = (resolve(path)?, resolve(&lexical)?);
        for place in [followed, normal, project_paths.without_link(lexical)] {
            if !self.paths.contains(&place) {
                self.paths.push(place);
            }
        }
        Ok(())
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

/// Returns `path` as written and with symlinks resolved.
///
/// For a path that cannot be resolved, only the written form is returned.
pub(crate) fn lexical_and_resolved(path: &Path) -> Vec<PathBuf> {
    let mut forms = vec![normalise(path)];
    if let Ok(resolved) = resolve(path)
        && !forms.contains(&resolved)
    {
        forms.push(resolved);
    }
    forms
}

/// Number of symlinks that Linux follows before it gives up.
const LINK_LIMIT: usize = 40;

/// Resolves every symlink in the absolute `path`.
///
/// Unlike [`std::fs::canonicalize`], it also supports files that do not exist yet: a missing
/// component counts as a plain name, and a dangling symlink resolves to its target.
///
/// # Errors
///
/// A component cannot be inspected, or there are too many symlinks.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    // In reverse order, so that the next component is the last of the list.
    let mut parts: Vec<OsString> = parts_of(path);
    let mut links = 0;
    while let Some(part) = parts.pop() {
        if part == ".." {
            resolved.pop();
            continue;
        }
        // An absolute component replaces the resolved path.
        let next = resolved.join(&part);
        match std::fs::symlink_metadata(&next) {
            Ok(found) if found.is_symlink() => {
                links += 1;
                if links > LINK_LIMIT {
                    return Err(io::Error::other("there are too many symlinks"));
                }
                parts.extend(parts_of(&std::fs::read_link(&next)?));
            }
            Ok(_) => resolved = next,
            Err(error) if is_missing(&error) => resolved = next,
            Err(error) => return Err(error),
        }
    }
    Ok(resolved)
}

fn parts_of(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let mut parts: Vec<OsString> = parts.map(|part| part.as_os_str().to_owned()).collect();
    parts.reverse();
    parts
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn meanings(path: &str, project_paths: &ProjectPaths) -> PathCandidates {
        let call = ToolCall::new("Read", json!({})).in_dir("/srv/project");
        PathCandidates::locate(Path::new(path), &call, project_paths).expect("it can be resolved")
    }

    #[test]
    fn a_tilde_can_be_a_name_or_the_home() {
        let with_home = ProjectPaths::new("/srv/project").with_home("/no-home/user");

        let known = meanings("~/a", &with_home);
        let unknown = meanings("~/a", &ProjectPaths::new("/srv/project"));

        assert!(!known.in_unknown_home);
        assert_eq!(
            known.paths,
            [Path::new("/srv/project/~/a"), Path::new("/no-home/user/a")]
        );
        assert!(unknown.in_unknown_home);
        assert!(meanings("~other/a", &with_home).in_unknown_home);
    }

    #[test]
    fn surrounding_blanks_can_be_trimmed() {
        let project_paths = ProjectPaths::new("/srv/project").with_home("/no-home/user");

        assert_eq!(
            meanings(" /no-etc/a", &project_paths).paths,
            [Path::new("/srv/project/ /no-etc/a"), Path::new("/no-etc/a")]
        );
        assert!(
            meanings("\t~/a\u{200b}", &project_paths)
                .paths
                .contains(&PathBuf::from("/no-home/user/a"))
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_backslash_can_be_a_letter_or_a_separator() {
        let found = meanings("..\\..\\x", &ProjectPaths::new("/srv/project"));

        assert_eq!(
            found.paths,
            [Path::new("/srv/project/..\\..\\x"), Path::new("/x")]
        );
    }

    #[test]
    fn spaces_and_backslashes_in_the_project_path_are_ordinary_characters() {
        let root = "/srv/a\\b ";
        let project_paths = ProjectPaths::new(root).with_project_link("/home/l\\k ");
        let meanings = |path: &str| {
            let call = ToolCall::new("Read", json!({})).in_dir(root);
            let found = PathCandidates::locate(Path::new(path), &call, &project_paths);
            found.expect("it can be resolved").paths
        };

        assert_eq!(meanings(root), [Path::new(root)]);
        for path in ["/srv/a\\b /x", "/home/l\\k /x", "x"] {
            assert!(meanings(path).contains(&"/srv/a\\b /x".into()), "{path}");
            let is_outside =
                |place: &PathBuf| !place.starts_with(root) && !place.starts_with("/home");
            assert!(!meanings(path).iter().any(is_outside), "{path}");
        }
        // Below the root, both interpretations count.
        for path in ["/srv/a\\b /..\\x", "/home/l\\k /..\\x"] {
            let is_outside =
                |place: &PathBuf| !place.starts_with(root) && !place.starts_with("/home/l\\k ");
            assert!(meanings(path).iter().any(is_outside), "{path}");
        }
        assert!(meanings("/srv/a\\b /.git ").contains(&"/srv/a\\b /.git".into()));
    }
}

#[cfg(all(test, unix))]
mod resolve_tests {
    use std::os::unix::fs::symlink;

    use super::super::path_candidates::*;

    /// Creates a directory without symlinks in its own path.
    fn dir() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let path = dir.path().canonicalize().expect("it exists");
        (dir, path)
    }

    #[test]
    fn links_are_followed_at_any_position() {
        let (_temp_dir, dir) = dir();
        std::fs::create_dir_all(dir.join("real/deep")).expect("it can be made");
        symlink("real", dir.join("relative")).expect("it can be made");
        symlink(dir.join("real/deep"), dir.join("absolute")).expect("it can be made");
        symlink("../gone/away", dir.join("dangling")).expect("it can be made");
        let outside = dir.parent().expect("it has one").to_owned();

        for (path, expected) in [
            ("real", dir.join("real")),
            ("relative/new/file", dir.join("real/new/file")),
            ("absolute/x", dir.join("real/deep/x")),
            ("absolute/../x", dir.join("real/x")),
            ("dangling", outside.join("gone/away")),
            ("dangling/x", outside.join("gone/away/x")),
            ("missing/../relative", dir.join("real")),
            ("./real/./deep", dir.join("real/deep")),
        ] {
            assert_eq!(
                resolve(&dir.join(path)).expect("it leads somewhere"),
                expected,
                "{path}"
            );
        }
    }

    #[test]
    fn a_loop_is_an_error() {
        let (_temp_dir, dir) = dir();
        symlink("b", dir.join("a")).expect("it can be made");
        symlink("a", dir.join("b")).expect("it can be made");

        assert!(resolve(&dir.join("a")).is_err());
        assert!(resolve(&dir.join("a/x")).is_err());
    }

    #[test]
    fn a_name_that_the_system_rejects_is_an_error() {
        let (_temp_dir, dir) = dir();

        assert!(resolve(&dir.join("a\0b")).is_err());
        assert!(resolve(&dir.join("x".repeat(5000))).is_err());
    }

    #[test]
    fn a_file_used_as_a_directory_is_a_plain_name() {
        let (_temp_dir, dir) = dir();
        std::fs::write(dir.join("file"), "").expect("it can be written");

        assert_eq!(
            resolve(&dir.join("file/x")).expect("it is a name"),
            dir.join("file/x")
        );
    }
}
