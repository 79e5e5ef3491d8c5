//! Options of subcommands that make repositories and talk to others.
//!
//! As git 2.47 lists them.

use super::Options;

pub(super) const CLONE: Options = Options {
    letters: "v.q.n.l.s.j:o:b:u:c:4.6.",
    long: "verbose quiet progress reject-shallow no-checkout checkout bare naked mirror local \
        no-hardlinks hardlinks shared recurse-submodules? recursive? jobs= template= reference= \
        reference-if-able= dissociate origin= branch= upload-pack= depth= shallow-since= \
        shallow-exclude= single-branch no-tags tags shallow-submodules separate-git-dir= \
        ref-format= config= server-option= ipv4 ipv6 filter= also-filter-submodules \
        remote-submodules sparse bundle-uri=",
};

pub(super) const INIT: Options = Options {
    letters: "q.b:",
    long: "template= bare shared? quiet separate-git-dir= initial-branch= object-format= \
        ref-format=",
};

pub(super) const FETCH: Options = Options {
    letters: "v.q.a.f.m.t.n.j:p.P.k.u.o:4.6.",
    long: "verbose quiet all set-upstream append atomic upload-pack= force multiple tags jobs= \
        prefetch prune prune-tags recurse-submodules? dry-run porcelain write-fetch-head keep \
        update-head-ok progress depth= shallow-since= shallow-exclude= deepen= unshallow refetch \
        submodule-prefix= recurse-submodules-default= update-shallow refmap= server-option= ipv4 \
        ipv6 negotiation-tip= negotiate-only filter= auto-maintenance auto-gc \
        show-forced-updates write-commit-graph stdin",
};

pub(super) const PULL: Options = Options {
    letters: "v.q.r?n.s:X:S?a.f.t.p.j?k.o:4.6.",
    long: "verbose quiet progress recurse-submodules? rebase? stat summary log? signoff? squash \
        commit edit cleanup= ff ff-only verify verify-signatures autostash strategy= \
        strategy-option= gpg-sign? allow-unrelated-histories all append upload-pack= force tags \
        prune jobs? dry-run keep depth= shallow-since= shallow-exclude= deepen= unshallow \
        update-shallow refmap= server-option= ipv4 ipv6 negotiation-tip= show-forced-updates \
        set-upstream",
};

pub(super) const PUSH: Options = Options {
    letters: "v.q.d.n.f.u.o:4.6.",
    long: "verbose quiet repo= all branches mirror delete tags dry-run porcelain force \
        force-with-lease? force-if-includes recurse-submodules= thin receive-pack= exec= \
        set-upstream progress prune no-verify verify follow-tags signed? atomic push-option= \
        ipv4 ipv6",
};

pub(super) const LS_REMOTE: Options = Options {
    letters: "q.t.b.h.o:",
    long: "quiet upload-pack= exec= tags branches heads refs get-url sort= exit-code symref \
        server-option=",
};

pub(super) const REMOTE: Options = Options {
    letters: "v.",
    long: "verbose",
};

pub(super) const REMOTE_ADD: Options = Options {
    letters: "f.t:m:",
    long: "fetch tags track= master= mirror?",
};

pub(super) const REMOTE_SET_URL: Options = Options {
    letters: "",
    long: "push add delete",
};

pub(super) const REMOTE_UPDATE: Options = Options {
    letters: "p.",
    long: "prune",
};

pub(super) const REMOTE_PRUNE: Options = Options {
    letters: "n.",
    long: "dry-run",
};

pub(super) const REMOTE_SET_HEAD: Options = Options {
    letters: "a.d.",
    long: "auto delete",
};

pub(super) const REMOTE_SET_BRANCHES: Options = Options {
    letters: "",
    long: "add",
};

pub(super) const REMOTE_RENAME: Options = Options {
    letters: "",
    long: "progress",
};

pub(super) const SUBMODULE: Options = Options {
    letters: "q.",
    long: "quiet cached recursive",
};

pub(super) const SUBMODULE_ADD: Options = Options {
    letters: "b:",
    long: "quiet branch= force name= reference= ref-format= depth= progress dissociate",
};

pub(super) const SUBMODULE_UPDATE: Options = Options {
    letters: "j:",
    long: "quiet progress init remote no-fetch force checkout merge rebase reference= recursive \
        jobs= depth= recommend-shallow single-branch filter= ref-format= dissociate require-init",
};

pub(super) const SUBMODULE_SET_BRANCH: Options = Options {
    letters: "b:",
    long: "quiet branch= default",
};

pub(super) const SUBMODULE_SUMMARY: Options = Options {
    letters: "n:",
    long: "quiet cached files for-status summary-limit=",
};

pub(super) const SUBMODULE_DEINIT: Options = Options {
    letters: "",
    long: "quiet force all",
};

pub(super) const WORKTREE_ADD: Options = Options {
    letters: "f.b:B:d.q.",
    long: "force orphan detach checkout lock reason= quiet track guess-remote",
};

pub(super) const WORKTREE_LIST: Options = Options {
    letters: "v.z.",
    long: "porcelain verbose expire=",
};

pub(super) const WORKTREE_LOCK: Options = Options {
    letters: "",
    long: "reason=",
};

pub(super) const WORKTREE_MOVE: Options = Options {
    letters: "f.",
    long: "force",
};

pub(super) const WORKTREE_REMOVE: Options = Options {
    letters: "f.",
    long: "force",
};

pub(super) const WORKTREE_PRUNE: Options = Options {
    letters: "n.v.",
    long: "dry-run verbose expire=",
};

pub(super) const BUNDLE_CREATE: Options = Options {
    letters: "q.",
    long: "quiet progress all-progress all-progress-implied version=",
};

pub(super) const BUNDLE_VERIFY: Options = Options {
    letters: "q.",
    long: "quiet",
};

pub(super) const SPARSE_CHECKOUT_SET: Options = Options {
    letters: "",
    long: "cone sparse-index skip-checks stdin",
};

pub(super) const SPARSE_CHECKOUT_INIT: Options = Options {
    letters: "",
    long: "cone sparse-index",
};

pub(super) const GC: Options = Options {
    letters: "q.",
    long: "quiet prune? cruft max-cruft-size= aggressive auto detach force keep-largest-pack",
};

pub(super) const FSCK: Options = Options {
    letters: "v.",
    long: "verbose unreachable dangling tags root cache reflogs full connectivity-only strict \
        lost-found progress name-objects",
};
