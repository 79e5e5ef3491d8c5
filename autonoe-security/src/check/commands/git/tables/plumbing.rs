//! Options of the plumbing subcommands.
//!
//! Taken from git 2.47.

use crate::option_table::OptionTable;

pub(super) const CAT_FILE: OptionTable = options!(
    "eptszZ",
    "allow-unknown-type use-mailmap mailmap batch? batch-check? batch-command? batch-all-objects",
    "buffer follow-symlinks unordered textconv filters path=",
);

pub(super) const CHECK_ATTR: OptionTable = options!("az", "all cached stdin source=");

pub(super) const CHECK_IGNORE: OptionTable =
    options!("qvzn", "quiet verbose stdin non-matching no-index index",);

pub(super) const CHECK_MAILMAP: OptionTable = options!("", "stdin mailmap-file= mailmap-blob=");

pub(super) const CHECK_REF_FORMAT: OptionTable =
    options!("", "normalize allow-onelevel refspec-pattern branch print",);

pub(super) const COMMIT_TREE: OptionTable = options!("p:m:F:S?", "gpg-sign?");

pub(super) const COUNT_OBJECTS: OptionTable = options!("vH", "verbose human-readable");

pub(super) const FOR_EACH_REF: OptionTable = options!(
    "sp",
    "shell perl python tcl omit-empty count= format= color? exclude= sort= points-at= merged=",
    "no-merged= contains= no-contains= ignore-case stdin include-root-refs",
);

pub(super) const HASH_OBJECT: OptionTable = options!(
    "t:w",
    "stdin stdin-paths no-filters filters literally path=",
);

pub(super) const HELP: OptionTable = options!(
    "amwivgc",
    "all external-commands aliases exclude-guides man web info verbose guides user-interfaces",
    "developer-interfaces config config-for-completion config-sections-for-completion",
);

pub(super) const LS_FILES: OptionTable = options!(
    "ztvfcdmoiskux:X:",
    "cached deleted modified others ignored stage killed directory eol empty-directory unmerged",
    "resolve-undo exclude= exclude-from= exclude-per-directory= exclude-standard full-name",
    "recurse-submodules error-unmatch with-tree= abbrev? debug deduplicate sparse format=",
);

pub(super) const LS_TREE: OptionTable = options!(
    "drtzl",
    "long name-only name-status object-only full-name full-tree format= abbrev?",
);

pub(super) const MERGE_BASE: OptionTable =
    options!("a", "all octopus independent is-ancestor fork-point",);

pub(super) const MERGE_FILE: OptionTable = options!(
    "pqL:",
    "stdout object-id diff3 zdiff3 ours theirs union diff-algorithm= marker-size= quiet",
);

pub(super) const MERGE_TREE: OptionTable = options!(
    "zX:",
    "write-tree trivial-merge messages name-only allow-unrelated-histories stdin merge-base=",
    "strategy-option=",
);

pub(super) const MKTREE: OptionTable = options!("z", "missing batch");

pub(super) const READ_TREE: OptionTable = options!(
    "vmuinq",
    "super-prefix= index-output= empty verbose trivial aggressive reset prefix=",
    "exclude-per-directory= dry-run no-sparse-checkout sparse-checkout debug-unpack",
    "recurse-submodules? quiet",
);

pub(super) const REV_PARSE: OptionTable = options!(
    "",
    "git-path= default= prefix= resolve-git-dir= parseopt keep-dashdash stop-at-non-option",
    "stuck-long sq-quote revs-only no-revs flags no-flags verify quiet sq short? not abbrev-ref?",
    "symbolic symbolic-full-name output-object-format? all branches? tags? remotes? glob? exclude?",
    "exclude-hidden? disambiguate? local-env-vars path-format? git-dir git-common-dir",
    "absolute-git-dir is-inside-git-dir is-inside-work-tree is-bare-repository",
    "is-shallow-repository show-cdup show-prefix show-toplevel show-superproject-working-tree",
    "shared-index-path show-object-format? show-ref-format since? after? until? before?",
    "end-of-options bisect",
);

pub(super) const SHOW_REF: OptionTable = options!(
    "hds?q",
    "tags branches heads exists verify head dereference hash? abbrev? quiet exclude-existing?",
);

pub(super) const STRIPSPACE: OptionTable = options!("sc", "strip-comments comment-lines");

pub(super) const SYMBOLIC_REF: OptionTable = options!("qdm:", "quiet delete short recurse");

pub(super) const UPDATE_INDEX: OptionTable = options!(
    "qzg",
    "ignore-submodules add replace remove unmerged refresh really-refresh cacheinfo= chmod=",
    "assume-unchanged no-assume-unchanged skip-worktree no-skip-worktree",
    "ignore-skip-worktree-entries info-only force-remove stdin index-info unresolve again",
    "ignore-missing verbose clear-resolve-undo index-version= show-index-version split-index",
    "untracked-cache test-untracked-cache force-untracked-cache force-write-index fsmonitor",
    "fsmonitor-valid no-fsmonitor-valid",
);

pub(super) const UPDATE_REF: OptionTable = options!("m:dz", "no-deref deref stdin create-reflog");

pub(super) const VERIFY_COMMIT: OptionTable = options!("v", "verbose raw");

pub(super) const VERIFY_TAG: OptionTable = options!("v", "verbose raw format=");

pub(super) const WRITE_TREE: OptionTable = options!("", "missing-ok prefix= ignore-cache-tree");
