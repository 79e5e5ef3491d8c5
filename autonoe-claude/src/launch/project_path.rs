//! Checks for project paths that the program cannot work in.

use std::path::{Component, Path};

use autonoe_core::AgentError;
use autonoe_core::agent::AgentErrorKind;

/// Folders whose files the program never writes without the approval of a user, whatever a hook
/// decides.
const PROTECTED: [&str; 9] = [
    ".git",
    ".vscode",
    ".idea",
    ".claude",
    ".husky",
    ".cargo",
    ".devcontainer",
    ".yarn",
    ".mvn",
];

/// The newest build that does not start in a directory with a backslash in its path.
const NO_BACKSLASH: [u32; 3] = [2, 1, 197];

/// Checks that sessions can work in `path`, an absolute path.
///
/// The program requests the approval of a user before it writes to a path that could mean another
/// file on Windows, or to a path in a protected folder. No hook and no setting changes that, so an
/// agent could neither write a file nor run a command. `version` is the version of the program, if
/// it is known.
///
/// # Errors
///
/// Sessions cannot work there. The error names the part of the path and the reason.
pub(crate) fn check_project_path(path: &Path, version: Option<[u32; 3]>) -> Result<(), AgentError> {
    match problem(path, version) {
        None => Ok(()),
        Some(problem) => {
            let message = format!("Claude Code cannot work in {path:?}: {problem}");
            let error = AgentError::new(AgentErrorKind::Configuration, message);
            Err(error.with_remedy("rename or move the project, or use another backend"))
        }
    }
}

fn problem(path: &Path, version: Option<[u32; 3]>) -> Option<String> {
    let text = path.to_string_lossy();
    if text.contains('\\') && version.is_some_and(|version| version <= NO_BACKSLASH) {
        let [major, minor, patch] = NO_BACKSLASH;
        return Some(format!(
            "version {major}.{minor}.{patch} and older do not start in a path with a backslash; \
             newer versions do"
        ));
    }
    // The program splits at both characters on every system.
    let names: Vec<_> = text.split(['/', '\\']).collect();
    let written = names.iter().find_map(|name| problem_of_name(name));
    written.or_else(|| problem_of_folder(path))
}

/// Returns the problem of one name that Windows would read differently.
fn problem_of_name(name: &str) -> Option<String> {
    let is_whitespace = |last: char| last.is_whitespace() || last == '\u{feff}';
    let is_short = |pair: &[u8]| pair[0] == b'~' && pair[1].is_ascii_digit();
    let reason = match name {
        "" | "." | ".." => return None,
        name if name.ends_with('.') => "ends with a dot",
        name if name.ends_with(is_whitespace) => "ends with whitespace",
        name if name.as_bytes().windows(2).any(is_short) => "has a digit after a tilde",
        _ => return None,
    };
    Some(format!(
        "the name {name:?} {reason}, and it refuses to write to such paths"
    ))
}

/// Returns the problem of a path that leads through a protected folder.
fn problem_of_folder(path: &Path) -> Option<String> {
    let names: Vec<_> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let refused = |(index, name): (usize, &String)| {
        let next = names.get(index + 1).map(String::as_str);
        match (name.as_str(), next) {
            // Its own worktrees.
            (".claude", Some("worktrees")) => None,
            (".config", Some("git")) => Some(".config/git".to_owned()),
            (name, _) => PROTECTED.contains(&name).then(|| name.to_owned()),
        }
    };
    let folder = names.iter().enumerate().find_map(refused)?;
    Some(format!(
        "it refuses to write to paths in a folder {folder:?}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_path_is_reported_with_the_reason() {
        for (path, reason) in [
            ("/srv/shop", None),
            ("/srv/my shop/ä: 'b' $c *?[]", None),
            ("/srv/ shop", None),
            ("/srv/.shop/~shop/a~b", None),
            ("/srv/shop ", Some("\"shop \" ends with whitespace")),
            ("/srv/a\t/shop", Some("ends with whitespace")),
            ("/srv/a\u{a0}/shop", Some("ends with whitespace")),
            ("/srv/a \\b", Some("\"a \" ends with whitespace")),
            ("/srv/shop.", Some("\"shop.\" ends with a dot")),
            ("/srv/.../shop", Some("ends with a dot")),
            ("/srv/shop~1/x", Some("has a digit after a tilde")),
            ("/srv/.claude/shop", Some("in a folder \".claude\"")),
            ("/srv/.Cargo/shop", Some("in a folder \".cargo\"")),
            ("/srv/.claude/worktrees/shop", None),
            ("/srv/.config/shop", None),
            ("/srv/.config/git/shop", Some("in a folder \".config/git\"")),
        ] {
            let checked = check_project_path(Path::new(path), None);

            let message = checked.map_err(|error| {
                assert!(error.remedy().is_some(), "{error}");
                error.to_string()
            });
            match reason {
                None => assert_eq!(message, Ok(()), "{path}"),
                Some(reason) => {
                    let message = message.expect_err(path);
                    assert!(message.contains(reason), "{path}: {message}");
                }
            }
        }
    }

    #[test]
    fn a_backslash_is_refused_for_builds_that_do_not_start_there() {
        let path = Path::new("/srv/a\\b");
        for (version, is_refused) in [
            (None, false),
            (Some([2, 1, 197]), true),
            (Some([2, 0, 300]), true),
            (Some([2, 1, 325]), false),
        ] {
            let checked = check_project_path(path, version);
            assert_eq!(checked.is_err(), is_refused, "{version:?}");
        }
    }
}
