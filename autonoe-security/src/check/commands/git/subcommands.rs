//! Table of the allowed git subcommands.

const ALLOWED: &[&str] = words!(
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore",
    "check-mailmap check-ref-format checkout cherry cherry-pick clean clone commit commit-tree",
    "config count-objects describe diff diff-files diff-index diff-tree fetch for-each-ref",
    "format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree merge",
    "merge-base merge-file merge-tree mktree mv name-rev notes pull push range-diff read-tree",
    "rebase reflog remote rerere reset restore rev-list rev-parse revert rm shortlog show",
    "show-branch show-ref sparse-checkout stash status stripspace submodule switch symbolic-ref",
    "tag update-index update-ref var verify-commit verify-tag version whatchanged worktree",
    "write-tree",
);

pub(super) fn is_allowed(name: &str) -> bool {
    ALLOWED.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_it_can_be_searched() {
        assert!(ALLOWED.is_sorted());
    }
}
