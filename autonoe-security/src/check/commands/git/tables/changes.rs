//! Options of subcommands that change the working tree, the index or history.
//!
//! Taken from git 2.47.

use crate::option_table::OptionTable;

pub(super) const ADD: OptionTable = options!(
    "nvipefuNA",
    "dry-run verbose interactive patch edit force update renormalize intent-to-add all",
    "ignore-removal refresh ignore-errors ignore-missing sparse chmod= warn-embedded-repo",
    "pathspec-from-file= pathspec-file-nul",
);

pub(super) const AM: OptionTable = options!(
    "inb3qsukmcC:p:rS?",
    "interactive no-verify verify binary 3way quiet signoff utf8 keep keep-non-patch message-id",
    "keep-cr scissors quoted-cr= whitespace= ignore-space-change ignore-whitespace directory=",
    "exclude= include= patch-format= reject resolvemsg= continue resolved skip abort quit",
    "show-current-patch? retry allow-empty committer-date-is-author-date ignore-date",
    "rerere-autoupdate gpg-sign? empty= rebasing",
);

pub(super) const APPLY: OptionTable = options!(
    "p:N3zC:Rvq",
    "exclude= include= no-add add stat allow-binary-replacement binary numstat summary check index",
    "intent-to-add cached unsafe-paths apply 3way ours theirs union build-fake-ancestor=",
    "whitespace= ignore-space-change ignore-whitespace reverse unidiff-zero reject allow-overlap",
    "verbose quiet inaccurate-eof recount directory= allow-empty",
);

pub(super) const CHECKOUT: OptionTable = options!(
    "b:B:lqmdt?f23p",
    "guess overlay quiet recurse-submodules? progress merge conflict= detach track? force orphan=",
    "overwrite-ignore ignore-other-worktrees ours theirs patch ignore-skip-worktree-bits",
    "pathspec-from-file= pathspec-file-nul",
);

pub(super) const CHERRY_PICK: OptionTable = options!(
    "nersm:X:S?x",
    "quit continue abort skip cleanup= no-commit commit edit signoff mainline= rerere-autoupdate",
    "strategy= strategy-option= gpg-sign? ff allow-empty allow-empty-message",
    "keep-redundant-commits empty=",
);

pub(super) const REVERT: OptionTable = options!(
    "nersm:X:S?",
    "quit continue abort skip cleanup= no-commit commit edit signoff mainline= rerere-autoupdate",
    "strategy= strategy-option= gpg-sign? reference",
);

pub(super) const CLEAN: OptionTable =
    options!("qnfide:xX", "quiet dry-run force interactive exclude=");

pub(super) const COMMIT: OptionTable = options!(
    "qvF:m:c:C:st:eS?aiponzu?",
    "quiet verbose file= author= date= message= reedit-message= reuse-message= fixup= squash=",
    "reset-author trailer= signoff template= edit cleanup= status gpg-sign? all include",
    "interactive patch only no-verify verify dry-run short branch ahead-behind porcelain long null",
    "amend no-post-rewrite post-rewrite untracked-files? pathspec-from-file= pathspec-file-nul",
    "allow-empty allow-empty-message",
);

pub(super) const MERGE: OptionTable = options!(
    "nes:X:m:F:vqS?",
    "stat summary log? squash commit edit cleanup= ff ff-only rerere-autoupdate verify-signatures",
    "strategy= strategy-option= message= file= into-name= verbose quiet abort quit continue",
    "allow-unrelated-histories progress gpg-sign? autostash overwrite-ignore signoff no-verify",
    "verify",
);

pub(super) const MV: OptionTable = options!("vnfk", "verbose dry-run force sparse");

pub(super) const REBASE: OptionTable = options!(
    "qvnC:fmipkS?x:r?s:X:",
    "onto= keep-base no-verify verify quiet verbose no-stat stat signoff",
    "committer-date-is-author-date reset-author-date ignore-date ignore-whitespace whitespace=",
    "force-rebase no-ff ff continue skip abort quit edit-todo show-current-patch apply merge",
    "interactive preserve-merges rerere-autoupdate empty= keep-empty autosquash update-refs",
    "gpg-sign? autostash exec= allow-empty-message rebase-merges? fork-point strategy=",
    "strategy-option= root reschedule-failed-exec reapply-cherry-picks",
);

pub(super) const RESET: OptionTable = options!(
    "qpN",
    "quiet no-refresh refresh mixed soft hard merge keep recurse-submodules? patch intent-to-add",
    "pathspec-from-file= pathspec-file-nul",
);

pub(super) const RESTORE: OptionTable = options!(
    "s:SWqm23p",
    "source= staged worktree ignore-unmerged overlay quiet recurse-submodules? progress merge",
    "conflict= ours theirs patch ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul",
);

pub(super) const RM: OptionTable = options!(
    "nqfr",
    "dry-run quiet cached force ignore-unmatch sparse pathspec-from-file= pathspec-file-nul",
);

pub(super) const STASH_PUSH: OptionTable = options!(
    "kSpquam:",
    "keep-index staged patch quiet include-untracked all message= pathspec-from-file=",
    "pathspec-file-nul",
);

pub(super) const STASH_SHOW: OptionTable = options!("u", "include-untracked only-untracked");

pub(super) const STASH_POP: OptionTable = options!("q", "quiet index");

pub(super) const STASH_STORE: OptionTable = options!("qm:", "quiet message=");

pub(super) const STASH_DROP: OptionTable = options!("q", "quiet");

pub(super) const SWITCH: OptionTable = options!(
    "c:C:qmdt?f",
    "create= force-create= guess discard-changes quiet recurse-submodules? progress merge",
    "conflict= detach track? force orphan= overwrite-ignore ignore-other-worktrees",
);

pub(super) const TAG: OptionTable = options!(
    "ln?dvam:F:esu:fi",
    "list delete verify annotate message= file= trailer= edit sign cleanup= local-user= force",
    "create-reflog column? contains= no-contains= with= without= merged= no-merged= omit-empty",
    "sort= points-at= format= color? ignore-case",
);

pub(super) const BRANCH: OptionTable = options!(
    "vqt?u:radDmMcClfi",
    "verbose quiet track? set-upstream set-upstream-to= unset-upstream color? remotes contains=",
    "no-contains= with= without= abbrev? all delete move omit-empty copy list show-current",
    "create-reflog edit-description force merged= no-merged= column? sort= points-at= ignore-case",
    "recurse-submodules format=",
);

pub(super) const RERERE: OptionTable = options!("", "rerere-autoupdate");

pub(super) const NOTES: OptionTable = options!("", "ref=");

pub(super) const NOTES_ADD: OptionTable = options!(
    "m:F:c:C:f",
    "message= file= reedit-message= reuse-message= allow-empty force separator? stripspace",
);

pub(super) const NOTES_APPEND: OptionTable = options!(
    "m:F:c:C:",
    "message= file= reedit-message= reuse-message= allow-empty separator? stripspace",
);

pub(super) const NOTES_MERGE: OptionTable =
    options!("vqs:", "verbose quiet strategy= commit abort");

pub(super) const NOTES_COPY: OptionTable = options!("f", "force stdin for-rewrite=");

pub(super) const NOTES_REMOVE: OptionTable = options!("", "ignore-missing stdin");

pub(super) const NOTES_PRUNE: OptionTable = options!("nv", "dry-run verbose");

pub(super) const BISECT_START: OptionTable = options!(
    "",
    "term-new= term-bad= term-old= term-good= no-checkout first-parent",
);
