//! Paths, by their text alone.

use std::borrow::Cow;

/// Returns the absolute path that `path` means in the directory `base`, without `.` and `..`.
///
/// Nothing is looked up: a symlink is a name like another. `base` is a resolved path.
pub(crate) fn resolve(base: &str, path: &str) -> String {
    let mut resolved = String::with_capacity(base.len() + path.len() + 1);
    if !path.starts_with('/') && base != "/" {
        resolved.push_str(base);
    }
    let mut rest = path;
    while !rest.is_empty() {
        let end = rest.bytes().position(|byte| byte == b'/');
        let end = end.unwrap_or(rest.len());
        match &rest[..end] {
            "" | "." => {}
            ".." => resolved.truncate(resolved.rfind('/').unwrap_or(0)),
            name => {
                resolved.push('/');
                resolved.push_str(name);
            }
        }
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    if resolved.is_empty() {
        resolved.push('/');
    }
    resolved
}

/// Tells whether the resolved path `path` is `folder` or lies in it.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder == "/")
}

/// Tells whether `path` never leaves the directory it starts in, whichever that is.
pub(crate) fn stays_below(path: &str) -> bool {
    if path.starts_with('/') {
        return false;
    }
    let mut depth = 0_usize;
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(up) => depth = up,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    true
}

/// The beginning of the name of the one file that agents write in sync mode.
pub(crate) const NOTE: &str = ".autonoe-note";

/// The folders of a project that only Autonoe writes to: the state of runs and of fleets.
pub(crate) const STATE_FOLDERS: [&str; 2] = [".autonoe", ".harness"];

/// The beginning of the name of the folder in `/tmp` that holds the folders of sessions. The ID of the
/// user follows.
pub(crate) const SESSION_PARENT: &str = "autonoe-";

/// Returns the part of `text` below `project`, or all of it if it is no path below that.
///
/// A project may lie in a protected folder: members of fleets work in worktrees in `.harness`.
pub(crate) fn below<'t>(text: &'t str, project: &str) -> &'t str {
    match text.strip_prefix(project) {
        Some(below) if is_within(text, project) => below,
        _ => text,
    }
}

/// Returns whether a component of `path` is `.autonoe`, `.harness` or `.git`, or `path` lies in the
/// folder of sessions.
///
/// Letter case does not count, because file systems differ in it, and a
/// backslash separates as well, because tools of other systems read it so.
pub(crate) fn is_protected(path: &str) -> bool {
    let is_name = |name: &str| is_state_folder(name) || name.eq_ignore_ascii_case(".git");
    is_in_session_parent(path) || (path.contains('.') && path.split(['/', '\\']).any(is_name))
}

/// Returns whether `path` is `/tmp/autonoe-UID` or lies in it.
///
/// Backends keep the folders of their sessions there, with scripts and settings that their programs
/// read.
fn is_in_session_parent(path: &str) -> bool {
    let Some(below) = path.strip_prefix("/tmp/") else {
        return false;
    };
    is_session_parent(below.split('/').next().unwrap_or(below))
}

/// Returns whether `name` is the name of the folder in `/tmp` that holds the folders of a user's
/// sessions: `autonoe-UID`.
pub fn is_session_parent(name: &str) -> bool {
    let (prefix, user) = name
        .split_at_checked(SESSION_PARENT.len())
        .unwrap_or_default();
    prefix.eq_ignore_ascii_case(SESSION_PARENT)
        && !user.is_empty()
        && user.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether a name that begins with `prefix` and ends with `suffix` may be that of the folder
/// of sessions.
pub(crate) fn may_be_session_parent(prefix: &str, suffix: &str) -> bool {
    let is_digit = |byte: char| byte.is_ascii_digit();
    let (prefix, suffix) = (prefix.to_ascii_lowercase(), suffix.to_ascii_lowercase());
    let begins = SESSION_PARENT.starts_with(prefix.as_str())
        || prefix
            .strip_prefix(SESSION_PARENT)
            .is_some_and(|user| user.chars().all(is_digit));
    begins && SESSION_PARENT.ends_with(suffix.trim_end_matches(is_digit))
}

/// Returns whether the pattern `name` may match the folder of sessions.
pub(crate) fn pattern_may_be_session_parent(name: &str) -> bool {
    let is_wild = |c: char| "*?[]{}()!@+\\".contains(c);
    let prefix = name.split(is_wild).next().unwrap_or_default();
    let is_simple = name.chars().all(|c| matches!(c, '*' | '?') || !is_wild(c));
    let suffix = name.rsplit(['*', '?']).next().filter(|_| is_simple);
    may_be_session_parent(prefix, suffix.unwrap_or_default())
}

/// Returns whether a component of `path` is `.autonoe` or `.harness`.
pub(crate) fn names_state_folder(path: &str) -> bool {
    path.split(['/', '\\']).any(is_state_folder)
}

fn is_state_folder(name: &str) -> bool {
    let mut folders = STATE_FOLDERS.iter();
    folders.any(|folder| name.eq_ignore_ascii_case(folder))
}

/// Returns whether `text` contains `name`, in upper or lower case.
pub(crate) fn contains_ignore_case(text: &str, name: &str) -> bool {
    let mut windows = text.as_bytes().windows(name.len());
    windows.any(|window| window.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns the last component of `path`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns `folder` without a slash at its end, resolved.
pub(crate) fn normal(folder: &str) -> Cow<'_, str> {
    let is_normal = folder.starts_with('/')
        && folder.len() > 1
        && folder[1..]
            .split('/')
            .all(|name| !matches!(name, "" | "." | ".."));
    if is_normal || folder == "/" {
        Cow::Borrowed(folder)
    } else {
        Cow::Owned(resolve("/", folder))
    }
}

/// Returns whether `path` is a device that every command may write to.
pub(crate) fn is_harmless_device(path: &str) -> bool {
    let Some(name) = path.strip_prefix("/dev/") else {
        return false;
    };
    match name {
        "null" | "stdout" | "stderr" | "tty" => true,
        name => name.strip_prefix("fd/").is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_by_their_text() {
        let cases = [
            ("/p", "a", "/p/a"),
            ("/p", "./a//b/", "/p/a/b"),
            ("/p", "../a", "/a"),
            ("/p", "../../../a", "/a"),
            ("/p", "/x/../y", "/y"),
            ("/p", "", "/p"),
            ("/p", "..", "/"),
            ("/", "a", "/a"),
        ];
        for (base, path, expected) in cases {
            assert_eq!(resolve(base, path), expected, "{path} in {base}");
        }
    }

    #[test]
    fn a_prefix_is_not_containment() {
        assert!(is_within("/srv/project", "/srv/project"));
        assert!(is_within("/srv/project/a", "/srv/project"));
        assert!(!is_within("/srv/project-evil/a", "/srv/project"));
        assert!(!is_within("/srv", "/srv/project"));
        assert!(is_within("/anything", "/"));
    }

    #[test]
    fn what_goes_up_first_does_not_stay_below() {
        assert!(stays_below("a/../b"));
        assert!(stays_below("."));
        assert!(!stays_below("a/../../b"));
        assert!(!stays_below("/a"));
    }

    #[test]
    fn protected_names_are_whole_components_in_any_case() {
        for path in [
            ".git",
            "a/.GIT/config",
            ".Autonoe",
            ".Harness/x",
            "x\\.git\\hooks",
            "/tmp/autonoe-1000",
            "/tmp/Autonoe-0/x",
        ] {
            assert!(is_protected(path), "{path}");
        }
        for path in [
            ".gitignore",
            ".autonoe-note.md",
            "a.git",
            ".github/x",
            ".harness.yml",
            "test.harness",
            "/tmp/autonoe-",
            "/tmp/autonoe-claude-x/a",
            "/tmp/autonoe-1000.log",
            "/tmp/x/autonoe-1000",
            "/srv/project/autonoe-1000/a",
        ] {
            assert!(!is_protected(path), "{path}");
        }
    }

    #[test]
    fn the_part_below_the_project_has_no_folders_around_it() {
        for (text, part) in [
            ("/s/.harness/w/src/a", "/src/a"),
            ("/s/.harness/w", ""),
            ("/s/.harness/wide/a", "/s/.harness/wide/a"),
            ("/s/.harness/f/stop", "/s/.harness/f/stop"),
            ("src/a", "src/a"),
        ] {
            assert_eq!(below(text, "/s/.harness/w"), part, "{text}");
        }
    }
}
