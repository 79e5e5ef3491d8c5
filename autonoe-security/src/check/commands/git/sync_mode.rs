//! Git in sync mode: an allow-list of commands that read, and those that stage and commit.

use super::parsed_args::{Flag, Name};
use super::{Git, outputs};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;

/// Subcommands that change no file, no ref, no setting and not the index, whatever their options
/// are. Options that name a file are checked before.
const READING: &[&str] = words!(
    "annotate archive blame cat-file check-attr check-ignore check-mailmap check-ref-format cherry",
    "count-objects describe diff diff-files diff-index diff-tree for-each-ref grep help log",
    "ls-files ls-remote ls-tree merge-base merge-tree name-rev range-diff rev-list rev-parse",
    "shortlog show show-branch show-ref status stripspace var verify-commit verify-tag version",
    "whatchanged",
);

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let read = &git.read;
    let is_fine = match git.name {
        name if READING.contains(&name) => true,
        "add" => has_only(
            git,
            "AfNnuv",
            words!(
                "all dry-run force ignore-errors ignore-missing ignore-removal intent-to-add",
                "pathspec-file-nul pathspec-from-file refresh update verbose",
            ),
        ),
        "branch" => lists_branches(git),
        "bundle" => first_is(git, words!("create list-heads verify")),
        "commit" => has_only(
            git,
            "aFmnoqsuvz",
            words!(
                "all allow-empty allow-empty-message author date dry-run file long message no-verify",
                "only porcelain quiet short signoff status untracked-files verbose verify",
            ),
        ),
        "fetch" => fetches_remotes(git),
        // It writes files to the current directory, unless another one is given.
        "format-patch" => {
            let mut flags = read.flags.iter();
            read.surely_has(None, "stdout")
                || flags.any(|flag| flag.is_certain && outputs::names_file(git, flag))
        }
        "fsck" => has_only(
            git,
            "v",
            words!(
                "cache connectivity-only dangling full name-objects progress reflogs root strict",
                "tags unreachable verbose",
            ),
        ),
        "hash-object" => has_only(
            git,
            "t",
            words!("literally no-filters path stdin stdin-paths"),
        ),
        // The result is printed, or replaces a file that is checked before.
        "merge-file" => true,
        "notes" => has_none(git) || first_is(git, words!("get-ref list show")),
        "reflog" => shows_reflog(git),
        "remote" => has_none(git) || first_is(git, words!("get-url show")),
        "rerere" => first_is(git, words!("diff remaining status")),
        "reset" => unstages(git),
        "restore" => {
            let names = words!("quiet staged");
            read.surely_has(Some('S'), "staged") && has_only(git, "qS", names)
        }
        "rm" => {
            let names = words!("cached dry-run force ignore-unmatch quiet");
            read.surely_has(None, "cached") && has_only(git, "fnqr", names)
        }
        "sparse-checkout" => first_is(git, words!("check-rules list")),
        "stash" => first_is(git, words!("list show")),
        "submodule" => has_none(git) || first_is(git, words!("status summary")),
        "bisect" => first_is(git, words!("log")),
        "symbolic-ref" => {
            let is_one = read.at(1).next().is_none();
            is_one && has_only(git, "q", words!("quiet recurse short"))
        }
        "tag" => lists_tags(git),
        "update-index" => {
            let names = words!("ignore-missing ignore-submodules quiet really-refresh refresh");
            has_none(git) && has_only(git, "q", names)
        }
        "worktree" => first_is(git, words!("list")),
        _ => false,
    };
    if is_fine {
        return Ok(());
    }
    let reason = format!("git {} changes more than a sync may change", git.name);
    Err(git
        .deny(Rule::R45, reason)
        .instead("use git log, show, diff, status or another command that only reads"))
}

/// Returns whether every option is one of `letters` and `names`.
fn has_only(git: &Git<'_, '_, '_, '_>, letters: &str, names: &[&str]) -> bool {
    let is_listed = |flag: &Flag<'_, '_>| match flag.name {
        Name::Letter(letter) => letters.contains(letter),
        Name::Long { matched, .. } => matched.is_some_and(|matched| names.contains(&matched.name)),
    };
    git.read.flags.iter().all(is_listed)
}

/// Returns whether there is no operand.
fn has_none(git: &Git<'_, '_, '_, '_>) -> bool {
    git.read.operands.is_empty()
}

/// Returns whether the second word is certainly one of `words`.
fn first_is(git: &Git<'_, '_, '_, '_>, words: &[&str]) -> bool {
    git.read.word().is_some_and(|word| words.contains(&word))
}

/// Returns whether one of `names` is an option in every reading.
fn surely_has_one(git: &Git<'_, '_, '_, '_>, letter: Option<char>, names: &[&str]) -> bool {
    names.iter().any(|name| git.read.surely_has(letter, name))
}

/// Returns whether `git branch` only lists: an operand without such an option creates a branch.
fn lists_branches(git: &Git<'_, '_, '_, '_>) -> bool {
    let names = words!(
        "abbrev all color column contains format ignore-case list merged no-contains no-merged",
        "omit-empty points-at remotes show-current sort verbose with without",
    );
    let lists = || {
        let filters = words!("contains merged no-contains no-merged points-at show-current");
        git.read.surely_has(Some('l'), "list") || surely_has_one(git, None, filters)
    };
    has_only(git, "ailqrv", names) && (has_none(git) || lists())
}

/// Returns whether `git tag` only lists or verifies.
fn lists_tags(git: &Git<'_, '_, '_, '_>) -> bool {
    let names = words!(
        "color column contains format ignore-case list merged no-contains no-merged omit-empty",
        "points-at sort verify with without",
    );
    let lists = || {
        let filters = words!("contains merged no-contains no-merged points-at");
        git.read.surely_has(Some('l'), "list")
            || git.read.surely_has(Some('v'), "verify")
            || surely_has_one(git, None, filters)
    };
    has_only(git, "ilnv", names) && (has_none(git) || lists())
}

/// Returns whether `git fetch` only updates what the configuration of remotes maps: no refspec with
/// a target, no forced update and no deletion.
fn fetches_remotes(git: &Git<'_, '_, '_, '_>) -> bool {
    let names = words!(
        "all dry-run ipv4 ipv6 jobs porcelain progress quiet recurse-submodules tags verbose",
        "write-fetch-head",
    );
    let is_plain = |arg: &Arg<'_>| {
        arg.known()
            .is_some_and(|text| !text.contains([':', '+', '^', '*']))
    };
    let mut operands = git.read.operands.iter();
    has_only(git, "46jnqtv", names) && operands.all(|operand| is_plain(operand.arg))
}

/// Returns whether `git reflog` shows entries.
fn shows_reflog(git: &Git<'_, '_, '_, '_>) -> bool {
    let shows = |word: &str| {
        matches!(
            word,
            "exists" | "list" | "show" | "HEAD" | "main" | "master"
        ) || word.contains(['/', '@'])
    };
    has_none(git) || git.read.word().is_some_and(shows)
}

/// Returns whether `git reset` only takes files out of the index: a commit other than `HEAD` would
/// move the branch.
fn unstages(git: &Git<'_, '_, '_, '_>) -> bool {
    let names = words!("intent-to-add mixed pathspec-file-nul pathspec-from-file quiet refresh");
    let mut before = git.args.iter().take_while(|arg| !arg.is("--"));
    let has_no_commit = before.all(|arg| arg.text.starts_with('-'));
    let is_head = || git.read.at(0).all(|commit| commit.is("HEAD"));
    has_only(git, "Nq", names) && (has_no_commit || is_head())
}
