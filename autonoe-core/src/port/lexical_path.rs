//! What a path means: by its text alone, and [with symlinks followed](meanings).

pub(crate) mod meanings;
pub(crate) mod percent;
mod resolve;
pub(crate) mod visible;

use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

/// Returns `path` as seen from the root, without `.` and `..`.
///
/// Going above the root stays at the root, as it does in the operating system.
/// Symlinks are not followed: where `..` behind one leads is another question.
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

/// Where a path starts, for a tool that knows what `~` means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// At the directory of the call, or at the root.
    Here,
    /// At the user's home; the rest of the path.
    Home(PathBuf),
    /// At the home of another user, wherever that is.
    OtherHome,
}

/// Returns where `path` starts.
///
/// A lone `~name` is the name of a file, for example one that an editor left;
/// `~name/file` can be the home of `name`.
pub(crate) fn start_of(path: &Path) -> Start {
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
    fn dots_go_away_and_the_root_has_no_parent() {
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
            assert_eq!(start_of(Path::new(path)), start, "{path}");
        }
    }
}
