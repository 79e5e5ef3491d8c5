//! Options of the subcommands underneath.
//!
//! As git 2.47 lists them.

use super::Options;

pub(super) const CAT_FILE: Options = Options {
    letters: "e.p.t.s.z.Z.",
    long: "allow-unknown-type use-mailmap mailmap batch? batch-check? batch-command? \
        batch-all-objects buffer follow-symlinks unordered textconv filters path=",
};

pub(super) const CHECK_ATTR: Options = Options {
    letters: "a.z.",
    long: "all cached stdin source=",
};

pub(super) const CHECK_IGNORE: Options = Options {
    letters: "q.v.z.n.",
    long: "quiet verbose stdin non-matching no-index index",
};

pub(super) const CHECK_MAILMAP: Options = Options {
    letters: "",
    long: "stdin mailmap-file= mailmap-blob=",
};

pub(super) const CHECK_REF_FORMAT: Options = Options {
    letters: "",
    long: "normalize allow-onelevel refspec-pattern branch print",
};

pub(super) const COMMIT_TREE: Options = Options {
    letters: "p:m:F:S?",
    long: "gpg-sign?",
};

pub(super) const COUNT_OBJECTS: Options = Options {
    letters: "v.H.",
    long: "verbose human-readable",
};

pub(super) const FOR_EACH_REF: Options = Options {
    letters: "s.p.",
    long: "shell perl python tcl omit-empty count= format= color? exclude= sort= points-at= merged= \
        no-merged= contains= no-contains= ignore-case stdin include-root-refs",
};

pub(super) const HASH_OBJECT: Options = Options {
    letters: "t:w.",
    long: "stdin stdin-paths no-filters filters literally path=",
};

pub(super) const HELP: Options = Options {
    letters: "a.m.w.i.v.g.c.",
    long: "all external-commands aliases exclude-guides man web info verbose guides user-interfaces \
        developer-interfaces config config-for-completion config-sections-for-completion",
};

pub(super) const LS_FILES: Options = Options {
    letters: "z.t.v.f.c.d.m.o.i.s.k.u.x:X:",
    long: "cached deleted modified others ignored stage killed directory eol empty-directory \
        unmerged resolve-undo exclude= exclude-from= exclude-per-directory= exclude-standard \
        full-name recurse-submodules error-unmatch with-tree= abbrev? debug deduplicate sparse \
        format=",
};

pub(super) const LS_TREE: Options = Options {
    letters: "d.r.t.z.l.",
    long: "long name-only name-status object-only full-name full-tree format= abbrev?",
};

pub(super) const MERGE_BASE: Options = Options {
    letters: "a.",
    long: "all octopus independent is-ancestor fork-point",
};

pub(super) const MERGE_FILE: Options = Options {
    letters: "p.q.L:",
    long: "stdout object-id diff3 zdiff3 ours theirs union diff-algorithm= marker-size= quiet",
};

pub(super) const MERGE_TREE: Options = Options {
    letters: "z.X:",
    long: "write-tree trivial-merge messages name-only allow-unrelated-histories stdin merge-base= \
        strategy-option=",
};

pub(super) const MKTREE: Options = Options {
    letters: "z.",
    long: "missing batch",
};

pub(super) const READ_TREE: Options = Options {
    letters: "v.m.u.i.n.q.",
    long: "super-prefix= index-output= empty verbose trivial aggressive reset prefix= \
        exclude-per-directory= dry-run no-sparse-checkout sparse-checkout debug-unpack \
        recurse-submodules? quiet",
};

pub(super) const REV_PARSE: Options = Options {
    letters: "",
    long: "git-path= default= prefix= resolve-git-dir= parseopt keep-dashdash stop-at-non-option \
        stuck-long sq-quote revs-only no-revs flags no-flags verify quiet sq short? not \
        abbrev-ref? symbolic symbolic-full-name output-object-format? all branches? tags? \
        remotes? glob? exclude? exclude-hidden? disambiguate? local-env-vars path-format? \
        git-dir git-common-dir absolute-git-dir is-inside-git-dir is-inside-work-tree \
        is-bare-repository is-shallow-repository show-cdup show-prefix show-toplevel \
        show-superproject-working-tree shared-index-path show-object-format? show-ref-format \
        since? after? until? before? end-of-options bisect",
};

pub(super) const SHOW_REF: Options = Options {
    letters: "h.d.s?q.",
    long: "tags branches heads exists verify head dereference hash? abbrev? quiet exclude-existing?",
};

pub(super) const STRIPSPACE: Options = Options {
    letters: "s.c.",
    long: "strip-comments comment-lines",
};

pub(super) const SYMBOLIC_REF: Options = Options {
    letters: "q.d.m:",
    long: "quiet delete short recurse",
};

pub(super) const UPDATE_INDEX: Options = Options {
    letters: "q.z.g.",
    long: "ignore-submodules add replace remove unmerged refresh really-refresh cacheinfo= chmod= \
        assume-unchanged no-assume-unchanged skip-worktree no-skip-worktree \
        ignore-skip-worktree-entries info-only force-remove stdin index-info unresolve again \
        ignore-missing verbose clear-resolve-undo index-version= show-index-version split-index \
        untracked-cache test-untracked-cache force-untracked-cache force-write-index fsmonitor \
        fsmonitor-valid no-fsmonitor-valid",
};

pub(super) const UPDATE_REF: Options = Options {
    letters: "m:d.z.",
    long: "no-deref deref stdin create-reflog",
};

pub(super) const VERIFY_COMMIT: Options = Options {
    letters: "v.",
    long: "verbose raw",
};

pub(super) const VERIFY_TAG: Options = Options {
    letters: "v.",
    long: "verbose raw format=",
};

pub(super) const WRITE_TREE: Options = Options {
    letters: "",
    long: "missing-ok prefix= ignore-cache-tree",
};
