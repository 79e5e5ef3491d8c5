//! Commands with the verdicts that the rules give, for whoever implements the policy.
//!
//! Each file of the corpus is a list of JSON lines; [`files`] has them all. A line has the fields
//! `id`, `expect` (`allow` or `deny`), `rules`, `mode`, `profile` (null, a name or a list),
//! `allow_destructive`, `allow_commands` and `command`; the project is in `/srv/project`.

/// One file of the corpus.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name.
    pub name: &'static str,
    /// Its lines.
    pub text: &'static str,
}

/// Returns every file of the corpus.
///
/// ```
/// let files = autonoe_security::corpus::files();
/// let cases: usize = files.iter().map(|file| file.text.lines().count()).sum();
///
/// assert!(cases > 6_000);
/// ```
pub fn files() -> &'static [File] {
    &[
        File {
            name: "bypasses",
            text: include_str!("../corpus/bypasses.jsonl"),
        },
        File {
            name: "cases",
            text: include_str!("../corpus/cases.jsonl"),
        },
        File {
            name: "git",
            text: include_str!("../corpus/git.jsonl"),
        },
        File {
            name: "programs",
            text: include_str!("../corpus/programs.jsonl"),
        },
        File {
            name: "shell",
            text: include_str!("../corpus/shell.jsonl"),
        },
        File {
            name: "tools",
            text: include_str!("../corpus/tools.jsonl"),
        },
    ]
}
