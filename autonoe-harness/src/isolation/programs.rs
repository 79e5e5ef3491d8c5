//! Programs that the settings of a repository name.

/// Whether git runs programs that the settings of the repository name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Programs {
    /// An agent can write those settings, and what they name would run outside of its sandbox.
    #[default]
    Forbidden,
    Allowed,
}

/// Merges as git does where no program is named.
const AS_TEXT: &str = "git merge-file --quiet --marker-size=%L %A %O %B";

/// Tells whether git may run programs that its settings name to do this.
pub(super) fn may_run<S: AsRef<str>>(arguments: &[S]) -> bool {
    let mut words = arguments.iter().map(AsRef::as_ref);
    let mut word = words.next();
    while word == Some("-c") {
        words.next();
        word = words.next();
    }
    match word {
        Some("worktree") => words.next() != Some("list"),
        // They read and write objects and names, and never content of the work tree.
        Some(
            "cat-file" | "commit-tree" | "config" | "diff-index" | "diff-tree" | "for-each-ref"
            | "ls-files" | "ls-tree" | "merge-base" | "rev-list" | "rev-parse" | "symbolic-ref"
            | "update-ref" | "write-tree",
        ) => false,
        _ => true,
    }
}

/// Returns the settings that take the place of those among `names` that name a program.
///
/// `names` are separated by NUL. A filter becomes none, and what had a way of its own to be merged
/// is merged as text.
pub(super) fn disarmed(names: &str) -> Vec<(String, &'static str)> {
    names.split('\0').filter_map(instead).collect()
}

fn instead(name: &str) -> Option<(String, &'static str)> {
    let (section, rest) = name.split_once('.')?;
    let (_, key) = rest.rsplit_once('.')?;
    let value = match (section, key) {
        ("filter", "clean" | "smudge" | "process") => "",
        ("filter", "required") => "false",
        ("merge", "driver") => AS_TEXT,
        ("hook", "command") => "true",
        // Options can name a strategy, which is a program.
        ("branch", "mergeoptions") => "",
        _ => return None,
    };
    Some((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_a_program_is_replaced_whatever_it_is_called() {
        let names = "core.bare\0filter.a=b.c.clean\0filter.x.required\0merge.y.driver\0\
            merge.y.name\0branch.main.mergeoptions\0user.name\0";

        let instead = disarmed(names);

        assert_eq!(
            instead,
            [
                ("filter.a=b.c.clean".to_owned(), ""),
                ("filter.x.required".to_owned(), "false"),
                ("merge.y.driver".to_owned(), AS_TEXT),
                ("branch.main.mergeoptions".to_owned(), ""),
            ]
        );
    }

    #[test]
    fn what_looks_at_files_may_run_programs() {
        for (command, may) in [
            (vec!["add", "--all"], true),
            (vec!["-c", "user.name=Ada", "commit", "-m", "x"], true),
            (vec!["-c", "user.name=Ada", "commit-tree", "x"], false),
            (vec!["status"], true),
            (vec!["worktree", "add"], true),
            (vec!["worktree", "list"], false),
            (vec!["rev-parse", "HEAD"], false),
        ] {
            assert_eq!(may_run(&command), may, "{command:?}");
        }
    }
}
