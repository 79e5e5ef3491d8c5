//! Symlink resolution that also supports missing files.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

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

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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
