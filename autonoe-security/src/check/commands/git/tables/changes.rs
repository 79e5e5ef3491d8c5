//! Options of subcommands that change the working tree, the index or history.
//!
//! As git 2.47 lists them.

use super::Options;

pub(super) const ADD: Options = Options {
    letters: "n.v.i.p.e.f.u.N.A.",
    long: "dry-run verbose interactive patch edit force update renormalize intent-to-add all \
        ignore-removal refresh ignore-errors ignore-missing sparse chmod= warn-embedded-repo \
        pathspec-from-file= pathspec-file-nul",
};

pub(super) const AM: Options = Options {
    letters: "i.n.b.3.q.s.u.k.m.c.C:p:r.S?",
    long: "interactive no-verify verify binary 3way quiet signoff utf8 keep keep-non-patch \
        message-id keep-cr scissors quoted-cr= whitespace= ignore-space-change ignore-whitespace \
        directory= exclude= include= patch-format= reject resolvemsg= continue resolved skip \
        abort quit show-current-patch? retry allow-empty committer-date-is-author-date \
        ignore-date rerere-autoupdate gpg-sign? empty= rebasing",
};

pub(super) const APPLY: Options = Options {
    letters: "p:N.3.z.C:R.v.q.",
    long: "exclude= include= no-add add stat allow-binary-replacement binary numstat summary check \
        index intent-to-add cached unsafe-paths apply 3way ours theirs union \
        build-fake-ancestor= whitespace= ignore-space-change ignore-whitespace reverse \
        unidiff-zero reject allow-overlap verbose quiet inaccurate-eof recount directory= \
        allow-empty",
};

pub(super) const CHECKOUT: Options = Options {
    letters: "b:B:l.q.m.d.t?f.2.3.p.",
    long: "guess overlay quiet recurse-submodules? progress merge conflict= detach track? force \
        orphan= overwrite-ignore ignore-other-worktrees ours theirs patch \
        ignore-skip-worktree-bits pathspec-from-file= pathspec-file-nul",
};

pub(super) const CHERRY_PICK: Options = Options {
    letters: "n.e.r.s.m:X:S?x.",
    long: "quit continue abort skip cleanup= no-commit commit edit signoff mainline= \
        rerere-autoupdate strategy= strategy-option= gpg-sign? ff allow-empty \
        allow-empty-message keep-redundant-commits empty=",
};

pub(super) const REVERT: Options = Options {
    letters: "n.e.r.s.m:X:S?",
    long: "quit continue abort skip cleanup= no-commit commit edit signoff mainline= \
        rerere-autoupdate strategy= strategy-option= gpg-sign? reference",
};

pub(super) const CLEAN: Options = Options {
    letters: "q.n.f.i.d.e:x.X.",
    long: "quiet dry-run force interactive exclude=",
};

pub(super) const COMMIT: Options = Options {
    letters: "q.v.F:m:c:C:s.t:e.S?a.i.p.o.n.z.u?",
    long: "quiet verbose file= author= date= message= reedit-message= reuse-message= fixup= squash= \
        reset-author trailer= signoff template= edit cleanup= status gpg-sign? all include \
        interactive patch only no-verify verify dry-run short branch ahead-behind porcelain long \
        null amend no-post-rewrite post-rewrite untracked-files? pathspec-from-file= \
        pathspec-file-nul allow-empty allow-empty-message",
};

pub(super) const MERGE: Options = Options {
    letters: "n.e.s:X:m:F:v.q.S?",
    long: "stat summary log? squash commit edit cleanup= ff ff-only rerere-autoupdate \
        verify-signatures strategy= strategy-option= message= file= into-name= verbose quiet \
        abort quit continue allow-unrelated-histories progress gpg-sign? autostash \
        overwrite-ignore signoff no-verify verify",
};

pub(super) const MV: Options = Options {
    letters: "v.n.f.k.",
    long: "verbose dry-run force sparse",
};

pub(super) const REBASE: Options = Options {
    letters: "q.v.n.C:f.m.i.p.k.S?x:r?s:X:",
    long: "onto= keep-base no-verify verify quiet verbose no-stat stat signoff \
        committer-date-is-author-date reset-author-date ignore-date ignore-whitespace \
        whitespace= force-rebase no-ff ff continue skip abort quit edit-todo show-current-patch \
        apply merge interactive preserve-merges rerere-autoupdate empty= keep-empty autosquash \
        update-refs gpg-sign? autostash exec= allow-empty-message rebase-merges? fork-point \
        strategy= strategy-option= root reschedule-failed-exec reapply-cherry-picks",
};

pub(super) const RESET: Options = Options {
    letters: "q.p.N.",
    long: "quiet no-refresh refresh mixed soft hard merge keep recurse-submodules? patch \
        intent-to-add pathspec-from-file= pathspec-file-nul",
};

pub(super) const RESTORE: Options = Options {
    letters: "s:S.W.q.m.2.3.p.",
    long: "source= staged worktree ignore-unmerged overlay quiet recurse-submodules? progress merge \
        conflict= ours theirs patch ignore-skip-worktree-bits pathspec-from-file= \
        pathspec-file-nul",
};

pub(super) const RM: Options = Options {
    letters: "n.q.f.r.",
    long: "dry-run quiet cached force ignore-unmatch sparse pathspec-from-file= pathspec-file-nul",
};

pub(super) const STASH_PUSH: Options = Options {
    letters: "k.S.p.q.u.a.m:",
    long: "keep-index staged patch quiet include-untracked all message= pathspec-from-file= \
        pathspec-file-nul",
};

pub(super) const STASH_SHOW: Options = Options {
    letters: "u.",
    long: "include-untracked only-untracked",
};

pub(super) const STASH_POP: Options = Options {
    letters: "q.",
    long: "quiet index",
};

pub(super) const STASH_STORE: Options = Options {
    letters: "q.m:",
    long: "quiet message=",
};

pub(super) const STASH_DROP: Options = Options {
    letters: "q.",
    long: "quiet",
};

pub(super) const SWITCH: Options = Options {
    letters: "c:C:q.m.d.t?f.",
    long: "create= force-create= guess discard-changes quiet recurse-submodules? progress merge \
        conflict= detach track? force orphan= overwrite-ignore ignore-other-worktrees",
};

pub(super) const TAG: Options = Options {
    letters: "l.n?d.v.a.m:F:e.s.u:f.i.",
    long: "list delete verify annotate message= file= trailer= edit sign cleanup= local-user= force \
        create-reflog column? contains= no-contains= with= without= merged= no-merged= \
        omit-empty sort= points-at= format= color? ignore-case",
};

pub(super) const BRANCH: Options = Options {
    letters: "v.q.t?u:r.a.d.D.m.M.c.C.l.f.i.",
    long: "verbose quiet track? set-upstream set-upstream-to= unset-upstream color? remotes \
        contains= no-contains= with= without= abbrev? all delete move omit-empty copy list \
        show-current create-reflog edit-description force merged= no-merged= column? sort= \
        points-at= ignore-case recurse-submodules format=",
};

pub(super) const RERERE: Options = Options {
    letters: "",
    long: "rerere-autoupdate",
};

pub(super) const NOTES: Options = Options {
    letters: "",
    long: "ref=",
};

pub(super) const NOTES_ADD: Options = Options {
    letters: "m:F:c:C:f.",
    long: "message= file= reedit-message= reuse-message= allow-empty force separator? stripspace",
};

pub(super) const NOTES_APPEND: Options = Options {
    letters: "m:F:c:C:",
    long: "message= file= reedit-message= reuse-message= allow-empty separator? stripspace",
};

pub(super) const NOTES_MERGE: Options = Options {
    letters: "v.q.s:",
    long: "verbose quiet strategy= commit abort",
};

pub(super) const NOTES_COPY: Options = Options {
    letters: "f.",
    long: "force stdin for-rewrite=",
};

pub(super) const NOTES_REMOVE: Options = Options {
    letters: "",
    long: "ignore-missing stdin",
};

pub(super) const NOTES_PRUNE: Options = Options {
    letters: "n.v.",
    long: "dry-run verbose",
};

pub(super) const BISECT_START: Options = Options {
    letters: "",
    long: "term-new= term-bad= term-old= term-good= no-checkout first-parent",
};
