//! Mentions of the folders that only Autonoe may write.

use super::arg::Arg;
use super::path;
use crate::syntax::Span;
use crate::{Denial, Rule};

/// Returns whether `text` mentions `.autonoe` or `.harness` itself, not `.autonoe-note.md` or a
/// longer name.
///
/// The path of `project` does not count, because it may be a worktree in `.harness`.
pub(crate) fn is_mentioned_in(text: &str, project: &str) -> bool {
    let mut from = 0;
    while let Some(dot) = text[from..].bytes().position(|byte| byte == b'.') {
        let at = from + dot;
        if begins_with(&text[at..], ".autonoe") && !continues_name(&text[at + ".autonoe".len()..]) {
            return true;
        }
        if begins_with(&text[at..], ".harness") && is_harness_folder(text, at, project) {
            return true;
        }
        from = at + 1;
    }
    false
}

/// Returns whether the `.harness` at `at` is a folder, and not a property or a part of a file name.
fn is_harness_folder(text: &str, at: usize, project: &str) -> bool {
    let before = text[..at].chars().next_back();
    let after = &text[at + ".harness".len()..];
    let is_part = |c: char| is_name_char(c) || matches!(c, ')' | ']');
    !before.is_some_and(is_part)
        && !continues_name(after)
        && !after.starts_with('.')
        && !is_in_project_path(text, at, project)
}

/// Returns whether the text at `at` belongs to the path of the project, and nothing goes up from
/// it.
fn is_in_project_path(text: &str, at: usize, project: &str) -> bool {
    let is_here = |(inside, _): (usize, &str)| {
        let start = at.checked_sub(inside);
        let path = start.and_then(|start| text[start..].strip_prefix(project));
        path.is_some_and(|after| !continues_name(after) && !after.starts_with('.'))
    };
    !text.contains("/..") && project.match_indices(".harness").any(is_here)
}

fn begins_with(text: &str, name: &str) -> bool {
    let start = text.as_bytes().get(..name.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(name.as_bytes()))
}

/// Returns whether a name continues with `rest`.
fn continues_name(rest: &str) -> bool {
    rest.chars().next().is_some_and(is_name_char)
}

fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Returns whether a patch, or a list of paths for git, mentions `.autonoe` or `.harness`.
///
/// Git writes and reads some bytes of a path as `\\056`.
pub(crate) fn is_mentioned_in_patch(text: &str, project: &str) -> bool {
    let is_mentioned = |text: &str| is_mentioned_in(text, project);
    is_mentioned(text) || (text.contains('\\') && is_mentioned(&with_octal_bytes(text)))
}

/// Prefixes of the lines that name files in a patch, or in a list of index entries.
const NAMING_LINES: [&str; 8] = [
    "+++ ",
    "--- ",
    "diff --git ",
    "rename to ",
    "copy to ",
    "100644 ",
    "100755 ",
    "040000 ",
];

/// Describes the problem of a patch, or of a list of index entries, anywhere in the text of a
/// script.
pub(crate) fn patch_problem(text: &str, project: &str) -> Option<&'static str> {
    if makes_symlink(text) {
        return Some("makes a symlink");
    }
    let names_state = |line: &str| {
        NAMING_LINES.iter().any(|mark| line.contains(mark)) && is_mentioned_in_patch(line, project)
    };
    // `printf` and `$'..'` write line breaks as `\\n`.
    text.split('\n')
        .flat_map(|line| line.split("\\n"))
        .any(names_state)
        .then_some("names .autonoe or .harness")
}

/// Returns whether a patch, or a list of index entries, creates a symlink or a submodule.
pub(crate) fn makes_symlink(text: &str) -> bool {
    text.contains("mode 120000") || text.contains("120000 ") || text.contains("160000 ")
}

fn with_octal_bytes(text: &str) -> String {
    let mut pieces = text.split('\\');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let byte = piece.get(..3).and_then(|it| u8::from_str_radix(it, 8).ok());
        match byte {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(&piece[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(piece);
            }
        }
    }
    plain
}

/// Returns whether git with this argument changes the files that its input names.
pub(crate) fn applies_input(arg: &Arg<'_>) -> bool {
    let subcommands = ["apply", "am", "update-index", "mktree"];
    subcommands.iter().any(|name| arg.is(name)) || arg.text.starts_with("--pathspec-fr")
}

/// Returns whether `text` contains the name `.autonoe`.
pub(crate) fn names_run_state(text: &str) -> bool {
    path::contains_ignore_case(text, ".autonoe")
}

/// Creates the denial of a command that names the state of runs, or else that of fleets.
pub(crate) fn deny(name: &str, is_run_state: bool, span: Span) -> Denial {
    let folder = if is_run_state { ".autonoe" } else { ".harness" };
    let reason = format!("'{name}' must not access {folder}");
    let advice = advice(folder).unwrap_or_default();
    Denial::by(Rule::R31, span, reason).instead(advice)
}

/// Returns the alternative to changing `.autonoe` or `.harness`, if `path` names one of them.
pub(crate) fn advice(path: &str) -> Option<&'static str> {
    let names = |folder: &str| {
        let mut parts = path.split(['/', '\\']);
        parts.any(|part| part.eq_ignore_ascii_case(folder))
    };
    match (names(".autonoe"), names(".harness")) {
        (true, _) => Some("use the deliverable tools for .autonoe"),
        (_, true) => Some("leave .harness as it is: fleets keep their state there"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_and_longer_names_are_something_else() {
        for text in [
            ".autonoe",
            "x/.AUTONOE/y",
            "('.autonoe')",
            "..autonoe",
            ".autonoe.",
            "a.b/.c/.autonoe",
            "..x...autonoe/.y",
            ".harness",
            "fs.rmSync('.HARNESS/fleet')",
            "a/.harness/f.a/outcome.json",
            "x=.harness",
        ] {
            assert!(is_mentioned_in(text, "/srv/project"), "{text}");
        }
        for text in [
            ".autonoe-note.md",
            ".autonoes",
            "autonoe",
            ".auto",
            ".autonoe_x",
            "test.harness",
            "src/test.harness.ts",
            "it().harness.run",
            "a[0].harness",
            ".harness-x",
            ".harnesses",
            ".harness.yml",
        ] {
            assert!(!is_mentioned_in(text, "/srv/project"), "{text}");
        }
    }

    #[test]
    fn patches_may_write_bytes_as_numbers() {
        for text in [
            "+++ b/.autonoe/x",
            r#"+++ "b/\056autonoe/x""#,
            r"\x\056auton\157e",
        ] {
            assert!(is_mentioned_in_patch(text, "/srv/project"), "{text}");
        }
        for text in ["+++ b/src/x", r"\056env", r"\", r"\09", "\\é.auto"] {
            assert!(!is_mentioned_in_patch(text, "/srv/project"), "{text}");
        }
    }

    #[test]
    fn a_project_in_a_worktree_may_name_itself() {
        let project = "/srv/shop/.harness/worktrees/f/a";
        for text in [
            "/srv/shop/.harness/worktrees/f/a",
            "--prefix=/srv/shop/.harness/worktrees/f/a/web",
            "require('/srv/shop/.harness/worktrees/f/a')",
        ] {
            assert!(!is_mentioned_in(text, project), "{text}");
        }
        for text in [
            ".harness/f",
            "/srv/shop/.harness/worktrees/f",
            "/srv/shop/.harness/worktrees/f/ab/x",
            "/srv/shop/.harness/worktrees/f/a.b",
            "/srv/shop/.harness/worktrees/f/a/.harness",
            "/srv/shop/.harness/worktrees/f/a/../b",
            "/srv/shop/.harness/worktrees/f/a /srv/shop/.harness/f/stop",
        ] {
            assert!(is_mentioned_in(text, project), "{text}");
        }
    }
}
