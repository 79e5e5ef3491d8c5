//! [`Resolver`], which resolves symlinks and remembers them for the duration of one tool call.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::normalise;

/// Resolves symlinks for the guards of one tool call.
///
/// Each path is inspected at most once, so that all guards judge the same state of the file system.
/// Create a new resolver for each call, because a symlink can appear between two calls.
///
/// The system calls are fast, so they run on the thread of the caller: a separate task would cost
/// more.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    nodes: RefCell<HashMap<OsString, Node>>,
}

/// The kind of file at a path whose parent has no symlinks.
#[derive(Clone, Debug)]
enum Node {
    /// A file or a directory.
    Present,
    /// A symlink with this target.
    Link(PathBuf),
    Missing,
}

/// Number of symlinks that Linux follows before it gives up.
const LINK_LIMIT: usize = 40;

impl Resolver {
    /// Resolves every symlink in the absolute `path`.
    ///
    /// Unlike [`std::fs::canonicalize`], it also supports files that do not exist yet: a missing
    /// component counts as a plain name, and a dangling symlink resolves to its target.
    ///
    /// # Errors
    ///
    /// A component cannot be inspected, or there are too many symlinks.
    pub(crate) fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        self.resolve_below(PathBuf::new(), path)
    }

    /// Resolves every symlink in `path`, which is absolute or starts at the resolved path `base`.
    ///
    /// # Errors
    ///
    /// As for [`resolve`](Self::resolve).
    pub(crate) fn resolve_below(&self, base: PathBuf, path: &Path) -> io::Result<PathBuf> {
        let mut resolved = base;
        let mut links = 0;
        let mut target: PathBuf;
        let mut parts = path.components();
        let mut is_missing = false;
        while let Some(part) = parts.next() {
            let name = match part {
                Component::CurDir => continue,
                Component::ParentDir => {
                    resolved.pop();
                    is_missing = false;
                    continue;
                }
                // The root is a directory. It replaces the resolved path.
                Component::Prefix(_) | Component::RootDir => {
                    resolved.push(part);
                    is_missing = false;
                    continue;
                }
                Component::Normal(name) => name,
            };
            resolved.push(name);
            if is_missing && is_accepted(name, &resolved) {
                continue;
            }
            match self.inspect(&resolved)? {
                Node::Present => is_missing = false,
                Node::Missing => is_missing = true,
                Node::Link(link) => {
                    links += 1;
                    if links > LINK_LIMIT {
                        return Err(io::Error::other("there are too many symlinks"));
                    }
                    resolved.pop();
                    is_missing = false;
                    target = link.join(parts.as_path());
                    parts = target.components();
                }
            }
        }
        Ok(resolved)
    }

    /// Returns `path` as written and with symlinks resolved.
    ///
    /// For a path that cannot be resolved, only the written form is returned.
    pub(crate) fn lexical_and_resolved(&self, path: &Path) -> Vec<PathBuf> {
        let mut forms = vec![normalise(path)];
        if let Ok(resolved) = self.resolve(path)
            && !forms.contains(&resolved)
        {
            forms.push(resolved);
        }
        forms
    }

    fn inspect(&self, path: &Path) -> io::Result<Node> {
        if let Some(node) = self.nodes.borrow().get(path.as_os_str()) {
            return Ok(node.clone());
        }
        // One system call, also for a symlink, which is cheaper than reading the metadata.
        let node = match std::fs::read_link(path) {
            Ok(target) => Node::Link(target),
            Err(error) if is_other_file(&error) => Node::Present,
            Err(error) if is_missing(&error) => Node::Missing,
            Err(error) => return Err(error),
        };
        let mut nodes = self.nodes.borrow_mut();
        nodes.insert(path.as_os_str().to_owned(), node.clone());
        Ok(node)
    }
}

/// Returns whether the system accepts `name` and `path`, which ends with it, on every file system.
///
/// Only then does a path below a missing directory need no system call: the system reports a name
/// that it rejects as an error, which blocks the call.
fn is_accepted(name: &OsStr, path: &Path) -> bool {
    const MAX_NAME_LEN: usize = 255;
    // The limit of macOS. Linux allows four times as much.
    const MAX_PATH_LEN: usize = 1023;
    let name = name.as_encoded_bytes();
    cfg!(unix)
        && !name.contains(&0)
        && name.len() <= MAX_NAME_LEN
        && path.as_os_str().len() <= MAX_PATH_LEN
}

/// Returns whether reading a symlink failed because there is something else at the path.
fn is_other_file(error: &io::Error) -> bool {
    #[cfg(unix)]
    const NOT_A_LINK: i32 = 22; // EINVAL
    #[cfg(not(unix))]
    const NOT_A_LINK: i32 = 4390; // ERROR_NOT_A_REPARSE_POINT
    // A name with a null character, which the library rejects, has no such number.
    error.raw_os_error() == Some(NOT_A_LINK)
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use proptest::prelude::*;

    use super::*;

    /// Creates a directory without symlinks in its own path.
    fn dir() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("a directory can be made");
        let path = dir.path().canonicalize().expect("it exists");
        (dir, path)
    }

    fn resolve(path: &Path) -> io::Result<PathBuf> {
        Resolver::default().resolve(path)
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
            ("missing/x/../../relative", dir.join("real")),
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

        for directory in ["", "missing", "missing/directory"] {
            let directory = dir.join(directory);
            assert!(resolve(&directory.join("a\0b")).is_err());
            assert!(resolve(&directory.join("x".repeat(5000))).is_err());
            assert!(resolve(&directory.join("x/".repeat(3000))).is_err());
        }
    }

    #[test]
    fn a_file_used_as_a_directory_is_a_plain_name() {
        let (_temp_dir, dir) = dir();
        std::fs::write(dir.join("file"), "").expect("it can be written");

        for path in ["file/x", "file/x/y"] {
            assert_eq!(
                resolve(&dir.join(path)).expect("it is a name"),
                dir.join(path)
            );
        }
    }

    #[test]
    fn a_resolver_keeps_its_first_view_of_a_path() {
        let (_temp_dir, dir) = dir();
        let resolver = Resolver::default();
        let path = dir.join("link/file");
        assert_eq!(resolver.resolve(&path).expect("a new path"), path);

        symlink("elsewhere", dir.join("link")).expect("it can be made");

        assert_eq!(resolver.resolve(&path).expect("the same path"), path);
        assert_eq!(
            resolve(&path).expect("a resolved path"),
            dir.join("elsewhere/file")
        );
    }

    /// Resolves `path` with one system call for each component.
    fn resolve_without_memory(path: &Path) -> io::Result<PathBuf> {
        let mut resolved = PathBuf::new();
        let mut parts: Vec<OsString> = reversed_parts(path);
        let mut links = 0;
        while let Some(part) = parts.pop() {
            if part == ".." {
                resolved.pop();
                continue;
            }
            let next = resolved.join(&part);
            match std::fs::symlink_metadata(&next) {
                Ok(metadata) if metadata.is_symlink() => {
                    links += 1;
                    if links > LINK_LIMIT {
                        return Err(io::Error::other("there are too many symlinks"));
                    }
                    parts.extend(reversed_parts(&std::fs::read_link(&next)?));
                }
                Ok(_) => resolved = next,
                Err(error) if is_missing(&error) => resolved = next,
                Err(error) => return Err(error),
            }
        }
        Ok(resolved)
    }

    fn reversed_parts(path: &Path) -> Vec<OsString> {
        let parts = path.components().filter(|part| *part != Component::CurDir);
        let mut parts: Vec<OsString> = parts.map(|part| part.as_os_str().to_owned()).collect();
        parts.reverse();
        parts
    }

    /// A path of few names, so that paths and symlinks often meet.
    const RANDOM_PATH: &str = "((\\.\\.|[abc.])/){0,4}[abc]";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]

        #[test]
        fn a_resolver_agrees_with_plain_resolution_in_random_symlink_trees(
            directories in prop::collection::vec("[abc](/[abc]){0,2}", 0..4),
            files in prop::collection::vec("[abc](/[abc]){0,2}", 0..3),
            links in prop::collection::vec(("[abc](/[abc]){0,2}", any::<bool>(), RANDOM_PATH), 0..6),
            paths in prop::collection::vec(RANDOM_PATH, 1..12),
        ) {
            let (_temp_dir, dir) = dir();
            // Deep enough that `..` stays in the directory.
            let root = dir.join("x/x/x/x/x/x/x/x");
            std::fs::create_dir_all(&root).expect("it can be made");
            // A random name can already be taken.
            for path in directories {
                drop(std::fs::create_dir_all(root.join(path)));
            }
            for path in files {
                drop(std::fs::write(root.join(path), ""));
            }
            for (path, is_absolute, target) in links {
                let base = if is_absolute { root.as_path() } else { Path::new("") };
                drop(symlink(base.join(target), root.join(path)));
            }
            let resolver = Resolver::default();

            for path in paths {
                let path = root.join(path);
                let expected = resolve_without_memory(&path).ok();
                prop_assert_eq!(&resolver.resolve(&path).ok(), &expected, "{}", path.display());
                let below = path.strip_prefix("/").expect("an absolute path");
                prop_assert_eq!(resolver.resolve_below("/".into(), below).ok(), expected);
            }
        }
    }
}
