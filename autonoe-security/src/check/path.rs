//! Lexical path operations, without file system access.

use crate::check::text::is_number;
use std::borrow::Cow;

/// Returns the absolute path of `path` relative to the directory `base`, without `.` and `..`.
///
/// The file system is not accessed: a symlink is treated like any other name. `base` is a resolved
/// path.
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

/// Returns whether `path`, relative to the resolved directory `base`, goes up behind a name outside
/// of `project` and `/tmp`.
///
/// The name may be a symlink, such as `/dev/fd` or `/var/run`, and then the system goes up from
/// where it leads.
pub(crate) fn ascends_past_link(base: &str, path: &str, project: &str) -> bool {
    // The part that `base` or earlier components determine.
    let mut place = if path.starts_with('/') { "/" } else { base }.to_owned();
    let mut names = 0_usize;
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                let is_inside = is_within(&place, project) || is_within(&place, "/tmp");
                let is_above = is_within(project, &place);
                if names > 0 && !is_inside && !is_above {
                    return true;
                }
                names = names.saturating_sub(1);
                place = resolve(&place, "..");
            }
            name => {
                names += 1;
                place = resolve(&place, name);
            }
        }
    }
    false
}

/// Returns whether the resolved path `path` is `folder` or inside it.
pub(crate) fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder == "/")
}

/// Returns whether `path` never leaves its starting directory, whichever that is.
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

/// Prefix of the name of the only file that agents write in sync mode.
pub(crate) const NOTE: &str = ".autonoe-note";

/// The folders of a project that only Autonoe writes: the state of runs and of fleets.
pub(crate) const STATE_FOLDERS: [&str; 2] = [".autonoe", ".harness"];

/// Prefix of the name of the folder in `/tmp` that contains the folders of sessions. The user id
/// follows.
pub(crate) const SESSIONS_FOLDER_PREFIX: &str = "autonoe-";

/// Returns the part of `text` below `project`, or all of it if it is not a path below that.
///
/// A project may be inside a protected folder: members of fleets work in worktrees in `.harness`.
pub(crate) fn below<'t>(text: &'t str, project: &str) -> &'t str {
    match text.strip_prefix(project) {
        Some(below) if is_within(text, project) => below,
        _ => text,
    }
}

/// Returns whether a component of `path` is `.autonoe`, `.harness` or `.git`, or `path` is in the
/// sessions folder.
///
/// Letter case is ignored, because file systems differ in it, and a backslash is a separator as
/// well, because tools of other systems read it so.
pub(crate) fn is_protected(path: &str) -> bool {
    let is_name = |name: &str| is_state_folder(name) || name.eq_ignore_ascii_case(".git");
    is_in_session_parent(path) || (path.contains('.') && path.split(['/', '\\']).any(is_name))
}

/// Returns whether `path` is `/tmp/autonoe-UID` or inside it.
///
/// Backends keep the folders of their sessions there, with scripts and settings that their programs
/// read.
fn is_in_session_parent(path: &str) -> bool {
    let Some(below) = path.strip_prefix("/tmp/") else {
        return false;
    };
    is_sessions_folder(below.split('/').next().unwrap_or(below))
}

/// Returns whether `name` is the name of the folder in `/tmp` that contains the folders of a user's
/// sessions: `autonoe-UID`.
pub fn is_sessions_folder(name: &str) -> bool {
    let (prefix, user) = name
        .split_at_checked(SESSIONS_FOLDER_PREFIX.len())
        .unwrap_or_default();
    prefix.eq_ignore_ascii_case(SESSIONS_FOLDER_PREFIX) && is_number(user)
}

/// Returns whether a name with this `prefix` and `suffix` may be that of the sessions folder.
pub(crate) fn may_be_sessions_folder(prefix: &str, suffix: &str) -> bool {
    let is_digit = |byte: char| byte.is_ascii_digit();
    let (prefix, suffix) = (prefix.to_ascii_lowercase(), suffix.to_ascii_lowercase());
    let begins = SESSIONS_FOLDER_PREFIX.starts_with(prefix.as_str())
        || prefix
            .strip_prefix(SESSIONS_FOLDER_PREFIX)
            .is_some_and(|user| user.chars().all(is_digit));
    begins && SESSIONS_FOLDER_PREFIX.ends_with(suffix.trim_end_matches(is_digit))
}

/// Returns whether the pattern `name` may match the sessions folder.
pub(crate) fn pattern_may_be_sessions_folder(name: &str) -> bool {
    let is_wild = |c: char| "*?[]{}()!@+\\".contains(c);
    let prefix = name.split(is_wild).next().unwrap_or_default();
    let is_simple = name.chars().all(|c| matches!(c, '*' | '?') || !is_wild(c));
    let suffix = name.rsplit(['*', '?']).next().filter(|_| is_simple);
    may_be_sessions_folder(prefix, suffix.unwrap_or_default())
}

/// Returns whether a component of `path` is `.autonoe` or `.harness`.
pub(crate) fn names_state_folder(path: &str) -> bool {
    path.split(['/', '\\']).any(is_state_folder)
}

fn is_state_folder(name: &str) -> bool {
    let mut folders = STATE_FOLDERS.iter();
    folders.any(|folder| name.eq_ignore_ascii_case(folder))
}

/// Returns whether `text` contains `name`, ignoring case.
pub(crate) fn contains_ignore_case(text: &str, name: &str) -> bool {
    let mut windows = text.as_bytes().windows(name.len());
    windows.any(|window| window.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns the last component of `path`.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the resolved `folder` without a trailing slash.
pub(crate) fn normalize(folder: &str) -> Cow<'_, str> {
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
        name => name.strip_prefix("fd/").is_some_and(is_number),
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
    fn only_names_outside_of_the_project_may_be_links() {
        for (path, expected) in [
            ("/dev/fd/../environ", true),
            ("/var/run/../etc/shadow", true),
            ("../../dev/fd/../environ", true),
            ("/srv/project/../x/../y", true),
            ("/srv/project/src/../a", false),
            ("/srv/project/../../etc/hosts", false),
            ("/tmp/x/../y", false),
            ("src/../a", false),
            ("../../etc/hosts", false),
            ("../project/src", false),
            ("/etc/hosts", false),
        ] {
            let ascends = ascends_past_link("/srv/project", path, "/srv/project");
            assert_eq!(ascends, expected, "{path}");
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
    fn paths_that_leave_the_folder_are_detected() {
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
