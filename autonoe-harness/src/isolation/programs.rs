//! Disarms repository settings that name programs: an agent can write those settings, and the
//! programs would run outside of its sandbox.

/// Merges like git's built-in text merge.
const AS_TEXT: &str = "git merge-file --quiet --marker-size=%L %A %O %B";

/// Returns whether this git command may run programs named in settings.
pub(super) fn may_run_programs<S: AsRef<str>>(arguments: &[S]) -> bool {
    let mut words = arguments.iter().map(AsRef::as_ref);
    let mut word = words.next();
    while word == Some("-c") {
        words.next();
        word = words.next();
    }
    match word {
        Some("worktree") => words.next() != Some("list"),
        // These read and write objects and refs, but never content of the work tree.
        Some(
            "cat-file" | "commit-tree" | "config" | "diff-index" | "diff-tree" | "for-each-ref"
            | "ls-files" | "ls-tree" | "merge-base" | "rev-list" | "rev-parse" | "symbolic-ref"
            | "update-ref" | "write-tree",
        ) => false,
        _ => true,
    }
}

/// Returns the settings that override those among `names` that name a program.
///
/// `names` are separated by NUL. Filters are disabled, and custom merge drivers are replaced by the
/// text merge.
pub(super) fn program_overrides(names: &str) -> Vec<(String, &'static str)> {
    names.split('\0').filter_map(replacement).collect()
}

fn replacement(name: &str) -> Option<(String, &'static str)> {
    let (section, rest) = name.split_once('.')?;
    let (_, key) = rest.rsplit_once('.')?;
    let value = match (section, key) {
        ("filter", "clean" | "smudge" | "process") => "",
        ("filter", "required") => "false",
        ("merge", "driver") => AS_TEXT,
        ("hook", "command") => "true",
        // The options can name a merge strategy, which is a program.
        ("branch", "mergeoptions") => "",
        _ => return None,
    };
    Some((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_that_names_a_program_is_replaced() {
        let names = "core.bare\0filter.a=b.c.clean\0filter.x.required\0merge.y.driver\0\
            merge.y.name\0branch.main.mergeoptions\0user.name\0";

        let replacements = program_overrides(names);

        assert_eq!(
            replacements,
            [
                ("filter.a=b.c.clean".to_owned(), ""),
                ("filter.x.required".to_owned(), "false"),
                ("merge.y.driver".to_owned(), AS_TEXT),
                ("branch.main.mergeoptions".to_owned(), ""),
            ]
        );
    }

    #[test]
    fn commands_that_access_files_may_run_programs() {
        for (command, may) in [
            (vec!["add", "--all"], true),
            (vec!["-c", "user.name=Ada", "commit", "-m", "x"], true),
            (vec!["-c", "user.name=Ada", "commit-tree", "x"], false),
            (vec!["status"], true),
            (vec!["worktree", "add"], true),
            (vec!["worktree", "list"], false),
            (vec!["rev-parse", "HEAD"], false),
        ] {
            assert_eq!(may_run_programs(&command), may, "{command:?}");
        }
    }
}
