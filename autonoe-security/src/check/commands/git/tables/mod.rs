//! Option tables of the git subcommands.

mod changes;
mod history;
mod plumbing;
mod repositories;

use crate::option_table::OptionTable;

/// The options of a subcommand; those of a family are separate.
pub(super) type Table = &'static [&'static OptionTable];

/// Returns the options that `subcommand` accepts before its first operand, or anywhere.
pub(super) fn for_subcommand(subcommand: &str) -> Table {
    match subcommand {
        "log" | "whatchanged" | "reflog" => &[&history::LOG, &history::REVISION, &history::DIFF],
        "show" => &[&history::SHOW, &history::REVISION, &history::DIFF],
        "shortlog" => &[&history::SHORTLOG, &history::REVISION],
        "blame" | "annotate" => &[&history::BLAME, &history::REVISION],
        "grep" => &[&history::GREP],
        "describe" => &[&history::DESCRIBE],
        "name-rev" => &[&history::NAME_REV],
        "range-diff" => &[&history::RANGE_DIFF, &history::DIFF],
        "format-patch" => &[&history::FORMAT_PATCH, &history::REVISION, &history::DIFF],
        "show-branch" => &[&history::SHOW_BRANCH],
        "cherry" => &[&history::CHERRY],
        "archive" => &[&history::ARCHIVE],
        "status" => &[&history::STATUS],
        "add" => &[&changes::ADD],
        "am" => &[&changes::AM],
        "apply" => &[&changes::APPLY],
        "checkout" => &[&changes::CHECKOUT],
        "cherry-pick" => &[&changes::CHERRY_PICK],
        "revert" => &[&changes::REVERT],
        "clean" => &[&changes::CLEAN],
        "commit" => &[&changes::COMMIT],
        "merge" => &[&changes::MERGE],
        "mv" => &[&changes::MV],
        "rebase" => &[&changes::REBASE],
        "reset" => &[&changes::RESET],
        "restore" => &[&changes::RESTORE],
        "rm" => &[&changes::RM],
        "switch" => &[&changes::SWITCH],
        "tag" => &[&changes::TAG],
        "branch" => &[&changes::BRANCH],
        "rerere" => &[&changes::RERERE],
        "notes" => &[&changes::NOTES],
        "clone" => &[&repositories::CLONE],
        "init" => &[&repositories::INIT],
        "fetch" => &[&repositories::FETCH],
        "pull" => &[&repositories::PULL],
        "push" => &[&repositories::PUSH],
        "ls-remote" => &[&repositories::LS_REMOTE],
        "remote" => &[&repositories::REMOTE],
        "submodule" => &[&repositories::SUBMODULE],
        "gc" => &[&repositories::GC],
        "fsck" => &[&repositories::FSCK],
        "cat-file" => &[&plumbing::CAT_FILE],
        "check-attr" => &[&plumbing::CHECK_ATTR],
        "check-ignore" => &[&plumbing::CHECK_IGNORE],
        "check-mailmap" => &[&plumbing::CHECK_MAILMAP],
        "check-ref-format" => &[&plumbing::CHECK_REF_FORMAT],
        "commit-tree" => &[&plumbing::COMMIT_TREE],
        "count-objects" => &[&plumbing::COUNT_OBJECTS],
        "for-each-ref" => &[&plumbing::FOR_EACH_REF],
        "hash-object" => &[&plumbing::HASH_OBJECT],
        "help" => &[&plumbing::HELP],
        "ls-files" => &[&plumbing::LS_FILES],
        "ls-tree" => &[&plumbing::LS_TREE],
        "merge-base" => &[&plumbing::MERGE_BASE],
        "merge-file" => &[&plumbing::MERGE_FILE],
        "merge-tree" => &[&plumbing::MERGE_TREE],
        "mktree" => &[&plumbing::MKTREE],
        "read-tree" => &[&plumbing::READ_TREE],
        "rev-parse" => &[&plumbing::REV_PARSE],
        "show-ref" => &[&plumbing::SHOW_REF],
        "stripspace" => &[&plumbing::STRIPSPACE],
        "symbolic-ref" => &[&plumbing::SYMBOLIC_REF],
        "update-index" => &[&plumbing::UPDATE_INDEX],
        "update-ref" => &[&plumbing::UPDATE_REF],
        "verify-commit" => &[&plumbing::VERIFY_COMMIT],
        "verify-tag" => &[&plumbing::VERIFY_TAG],
        "write-tree" => &[&plumbing::WRITE_TREE],
        "diff" | "diff-files" | "diff-index" | "diff-tree" | "rev-list" => {
            &[&history::REVISION, &history::DIFF]
        }
        "stash" => &[&changes::STASH_PUSH],
        _ => &[],
    }
}

/// Returns the options after the second word of a subcommand, if they differ.
pub(super) fn after_second_word(subcommand: &str, word: &str) -> Option<Table> {
    let table: Table = match (subcommand, word) {
        ("reflog", "expire") => &[&history::REFLOG_EXPIRE],
        ("reflog", "delete") => &[&history::REFLOG_DELETE],
        ("stash", "push" | "save") => &[&changes::STASH_PUSH],
        ("stash", "show") => &[&changes::STASH_SHOW, &history::DIFF],
        ("stash", "pop" | "apply") => &[&changes::STASH_POP],
        ("stash", "store") => &[&changes::STASH_STORE],
        ("stash", "drop") => &[&changes::STASH_DROP],
        ("notes", "add") => &[&changes::NOTES_ADD],
        ("notes", "append" | "edit") => &[&changes::NOTES_APPEND],
        ("notes", "merge") => &[&changes::NOTES_MERGE],
        ("notes", "copy") => &[&changes::NOTES_COPY],
        ("notes", "remove") => &[&changes::NOTES_REMOVE],
        ("notes", "prune") => &[&changes::NOTES_PRUNE],
        ("bisect", "start") => &[&changes::BISECT_START],
        ("remote", "add") => &[&repositories::REMOTE_ADD],
        ("remote", "set-url") => &[&repositories::REMOTE_SET_URL],
        ("remote", "update") => &[&repositories::REMOTE_UPDATE],
        ("remote", "prune") => &[&repositories::REMOTE_PRUNE],
        ("remote", "set-head") => &[&repositories::REMOTE_SET_HEAD],
        ("remote", "set-branches") => &[&repositories::REMOTE_SET_BRANCHES],
        ("remote", "rename") => &[&repositories::REMOTE_RENAME],
        ("submodule", "add") => &[&repositories::SUBMODULE_ADD],
        ("submodule", "update") => &[&repositories::SUBMODULE_UPDATE],
        ("submodule", "set-branch") => &[&repositories::SUBMODULE_SET_BRANCH],
        ("submodule", "summary") => &[&repositories::SUBMODULE_SUMMARY],
        ("submodule", "deinit") => &[&repositories::SUBMODULE_DEINIT],
        ("worktree", "add") => &[&repositories::WORKTREE_ADD],
        ("worktree", "list") => &[&repositories::WORKTREE_LIST],
        ("worktree", "lock") => &[&repositories::WORKTREE_LOCK],
        ("worktree", "move") => &[&repositories::WORKTREE_MOVE],
        ("worktree", "remove") => &[&repositories::WORKTREE_REMOVE],
        ("worktree", "prune") => &[&repositories::WORKTREE_PRUNE],
        ("bundle", "create") => &[&repositories::BUNDLE_CREATE],
        ("bundle", "verify") => &[&repositories::BUNDLE_VERIFY],
        ("sparse-checkout", "set" | "add") => &[&repositories::SPARSE_CHECKOUT_SET],
        ("sparse-checkout", "init" | "reapply") => &[&repositories::SPARSE_CHECKOUT_INIT],
        ("stash", "list") => &[&history::LOG, &history::REVISION, &history::DIFF],
        _ => return None,
    };
    Some(table)
}
