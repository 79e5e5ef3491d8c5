//! Options of subcommands that create repositories and connect to remotes.
//!
//! Taken from git 2.47.

use crate::option_table::OptionTable;

pub(super) const CLONE: OptionTable = options!(
    "vqnlsj:o:b:u:c:46",
    "verbose quiet progress reject-shallow no-checkout checkout bare naked mirror local",
    "no-hardlinks hardlinks shared recurse-submodules? recursive? jobs= template= reference=",
    "reference-if-able= dissociate origin= branch= upload-pack= depth= shallow-since=",
    "shallow-exclude= single-branch no-tags tags shallow-submodules separate-git-dir= ref-format=",
    "config= server-option= ipv4 ipv6 filter= also-filter-submodules remote-submodules sparse",
    "bundle-uri=",
);

pub(super) const INIT: OptionTable = options!(
    "qb:",
    "template= bare shared? quiet separate-git-dir= initial-branch= object-format= ref-format=",
);

pub(super) const FETCH: OptionTable = options!(
    "vqafmtnj:pPkuo:46",
    "verbose quiet all set-upstream append atomic upload-pack= force multiple tags jobs= prefetch",
    "prune prune-tags recurse-submodules? dry-run porcelain write-fetch-head keep update-head-ok",
    "progress depth= shallow-since= shallow-exclude= deepen= unshallow refetch submodule-prefix=",
    "recurse-submodules-default= update-shallow refmap= server-option= ipv4 ipv6 negotiation-tip=",
    "negotiate-only filter= auto-maintenance auto-gc show-forced-updates write-commit-graph stdin",
);

pub(super) const PULL: OptionTable = options!(
    "vqr?ns:X:S?aftpj?ko:46",
    "verbose quiet progress recurse-submodules? rebase? stat summary log? signoff? squash commit",
    "edit cleanup= ff ff-only verify verify-signatures autostash strategy= strategy-option=",
    "gpg-sign? allow-unrelated-histories all append upload-pack= force tags prune jobs? dry-run",
    "keep depth= shallow-since= shallow-exclude= deepen= unshallow update-shallow refmap=",
    "server-option= ipv4 ipv6 negotiation-tip= show-forced-updates set-upstream",
);

pub(super) const PUSH: OptionTable = options!(
    "vqdnfuo:46",
    "verbose quiet repo= all branches mirror delete tags dry-run porcelain force force-with-lease?",
    "force-if-includes recurse-submodules= thin receive-pack= exec= set-upstream progress prune",
    "no-verify verify follow-tags signed? atomic push-option= ipv4 ipv6",
);

pub(super) const LS_REMOTE: OptionTable = options!(
    "qtbho:",
    "quiet upload-pack= exec= tags branches heads refs get-url sort= exit-code symref",
    "server-option=",
);

pub(super) const REMOTE: OptionTable = options!("v", "verbose");

pub(super) const REMOTE_ADD: OptionTable = options!("ft:m:", "fetch tags track= master= mirror?");

pub(super) const REMOTE_SET_URL: OptionTable = options!("", "push add delete");

pub(super) const REMOTE_UPDATE: OptionTable = options!("p", "prune");

pub(super) const REMOTE_PRUNE: OptionTable = options!("n", "dry-run");

pub(super) const REMOTE_SET_HEAD: OptionTable = options!("ad", "auto delete");

pub(super) const REMOTE_SET_BRANCHES: OptionTable = options!("", "add");

pub(super) const REMOTE_RENAME: OptionTable = options!("", "progress");

pub(super) const SUBMODULE: OptionTable = options!("q", "quiet cached recursive");

pub(super) const SUBMODULE_ADD: OptionTable = options!(
    "b:",
    "quiet branch= force name= reference= ref-format= depth= progress dissociate",
);

pub(super) const SUBMODULE_UPDATE: OptionTable = options!(
    "j:",
    "quiet progress init remote no-fetch force checkout merge rebase reference= recursive jobs=",
    "depth= recommend-shallow single-branch filter= ref-format= dissociate require-init",
);

pub(super) const SUBMODULE_SET_BRANCH: OptionTable = options!("b:", "quiet branch= default");

pub(super) const SUBMODULE_SUMMARY: OptionTable =
    options!("n:", "quiet cached files for-status summary-limit=",);

pub(super) const SUBMODULE_DEINIT: OptionTable = options!("", "quiet force all");

pub(super) const WORKTREE_ADD: OptionTable = options!(
    "fb:B:dq",
    "force orphan detach checkout lock reason= quiet track guess-remote",
);

pub(super) const WORKTREE_LIST: OptionTable = options!("vz", "porcelain verbose expire=");

pub(super) const WORKTREE_LOCK: OptionTable = options!("", "reason=");

pub(super) const WORKTREE_MOVE: OptionTable = options!("f", "force");

pub(super) const WORKTREE_REMOVE: OptionTable = options!("f", "force");

pub(super) const WORKTREE_PRUNE: OptionTable = options!("nv", "dry-run verbose expire=");

pub(super) const BUNDLE_CREATE: OptionTable = options!(
    "q",
    "quiet progress all-progress all-progress-implied version=",
);

pub(super) const BUNDLE_VERIFY: OptionTable = options!("q", "quiet");

pub(super) const SPARSE_CHECKOUT_SET: OptionTable =
    options!("", "cone sparse-index skip-checks stdin");

pub(super) const SPARSE_CHECKOUT_INIT: OptionTable = options!("", "cone sparse-index");

pub(super) const GC: OptionTable = options!(
    "q",
    "quiet prune? cruft max-cruft-size= aggressive auto detach force keep-largest-pack",
);

pub(super) const FSCK: OptionTable = options!(
    "v",
    "verbose unreachable dangling tags root cache reflogs full connectivity-only strict lost-found",
    "progress name-objects",
);
