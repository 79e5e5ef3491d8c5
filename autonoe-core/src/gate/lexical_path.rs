//! Path normalisation by text alone, and detection of a leading `~`. [`resolve`] follows symlinks.

pub(crate) mod invisible_chars;
pub(crate) mod path_candidates;
pub(crate) mod percent;
mod resolve;

use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

/// Returns `path` as an absolute path without `.` and `..`.
///
/// The parent of the root is the root, as in the operating system. Symlinks are not resolved, so
/// `..` after a symlink may differ from the result of the operating system.
pub(crate) fn normalise(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from(MAIN_SEPARATOR_STR);
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(part),
        }
    }
    normal
}

/// Start of a path, for a tool that expands `~`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// The directory of the call, or the root.
    Here,
    /// The home directory of the user, with the rest of the path.
    Home(PathBuf),
    /// The home directory of another user, whose location is unknown.
    OtherHome,
}

/// Returns the start of `path`.
///
/// A lone `~name` is a file name, for example of an editor's backup file. `~name/file` can be in
/// the home directory of `name`.
pub(crate) fn path_start(path: &Path) -> Start {
    let mut parts = path.strip_prefix(".").unwrap_or(path).components();
    let Some(Component::Normal(first)) = parts.next() else {
        return Start::Here;
    };
    let rest = parts.as_path().to_owned();
    match first.as_encoded_bytes() {
        b"~" => Start::Home(rest),
        [b'~', ..] if !rest.as_os_str().is_empty() => Start::OtherHome,
        _ => Start::Here,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_removed_and_the_root_has_no_parent() {
        for (path, normal) in [
            ("/a/./b", "/a/b"),
            ("/a/../b", "/b"),
            ("/../../b", "/b"),
            ("a/..", "/"),
            ("", "/"),
            ("/a//b/", "/a/b"),
        ] {
            assert_eq!(normalise(Path::new(path)), Path::new(normal), "{path}");
        }
    }

    #[test]
    fn a_tilde_at_the_start_is_a_home() {
        for (path, start) in [
            ("~", Start::Home("".into())),
            ("~/a/b", Start::Home("a/b".into())),
            ("./~/a", Start::Home("a".into())),
            ("~root/a", Start::OtherHome),
            ("~lock", Start::Here),
            ("a/~/b", Start::Here),
            ("/~/b", Start::Here),
            ("../~/b", Start::Here),
        ] {
            assert_eq!(path_start(Path::new(path)), start, "{path}");
        }
    }
}
