//! Options of subcommands that show history and contents.
//!
//! Taken from git 2.47.

use crate::option_table::OptionTable;

pub(super) const DIFF: OptionTable = options!(
    "psuU?WX?zB?M?DC?l:wbI:aRS:G:O:",
    "patch no-patch unified? function-context raw patch-with-raw patch-with-stat numstat shortstat",
    "dirstat? cumulative dirstat-by-file? check summary name-only name-status stat? stat-width=",
    "stat-name-width= stat-graph-width= stat-count= compact-summary binary full-index color?",
    "ws-error-highlight= abbrev? src-prefix= dst-prefix= line-prefix= no-prefix default-prefix",
    "inter-hunk-context= output-indicator-new= output-indicator-old= output-indicator-context=",
    "break-rewrites? find-renames? irreversible-delete find-copies? find-copies-harder no-renames",
    "rename-empty follow minimal ignore-all-space ignore-space-change ignore-space-at-eol",
    "ignore-cr-at-eol ignore-blank-lines ignore-matching-lines= indent-heuristic patience",
    "histogram diff-algorithm= anchored= word-diff? word-diff-regex= color-words? color-moved?",
    "color-moved-ws= relative? text exit-code quiet ext-diff textconv ignore-submodules?",
    "submodule? ita-invisible-in-index ita-visible-in-index pickaxe-all pickaxe-regex rotate-to=",
    "skip-to= find-object= diff-filter= output= cached staged merge-base no-index ours theirs base",
);

pub(super) const REVISION: OptionTable = options!(
    "n:",
    "max-count= skip= max-age= since= since-as-filter= after= min-age= before= until= min-parents?",
    "no-min-parents max-parents? no-max-parents glob= exclude= exclude-hidden= branches? tags?",
    "remotes? author= committer= grep-reflog= grep= encoding= date= pretty? format? notes?",
    "show-notes? standard-notes abbrev? diff-merges= expand-tabs? no-walk? do-walk not all merge",
    "bisect filter? missing? cherry-mark cherry-pick cherry left-only right-only left-right",
    "boundary ancestry-path? simplify-by-decoration simplify-merges full-history dense sparse",
    "show-pulls merges no-merges first-parent exclude-first-parent-only walk-reflogs reverse",
    "topo-order date-order author-date-order objects objects-edge disk-usage? unpacked",
    "in-commit-order basic-regexp extended-regexp regexp-ignore-case fixed-strings perl-regexp",
    "invert-grep all-match oneline graph show-linear-break? show-signature relative-date parents",
    "children abbrev-commit cc combined-all-paths remerge-diff dd log-size source ignore-missing",
    "stdin single-worktree reflog alternate-refs no-commit-header count header timestamp",
    "use-bitmap-index progress? quiet remove-empty indexed-objects exclude-promisor-objects",
    "filter-print-omitted full-diff root recursive bisect-vars bisect-all objects-edge-aggressive",
    "object-names early-output? clear-decorations",
);

pub(super) const LOG: OptionTable = options!(
    "qL:",
    "quiet source use-mailmap mailmap clear-decorations decorate-refs= decorate-refs-exclude=",
    "decorate?",
);

pub(super) const SHOW: OptionTable = options!(
    "qL:",
    "quiet source use-mailmap mailmap clear-decorations decorate-refs= decorate-refs-exclude=",
    "decorate?",
);

pub(super) const SHORTLOG: OptionTable =
    options!("cnsew?", "committer numbered summary email group=");

pub(super) const BLAME: OptionTable = options!(
    "bfnpctlsewS:C?M?L:",
    "incremental root show-stats progress score-debug show-name show-number porcelain",
    "line-porcelain show-email ignore-rev= ignore-revs-file= color-lines color-by-age minimal",
    "contents= abbrev? date= since= encoding= reverse first-parent",
);

pub(super) const GREP: OptionTable = options!(
    "viwaIrEGFPnhHlLzocC:B:A:NpWf:e:qO?m:",
    "cached no-index index untracked exclude-standard recurse-submodules invert-match ignore-case",
    "word-regexp text textconv recursive max-depth= extended-regexp basic-regexp fixed-strings",
    "perl-regexp line-number column full-name files-with-matches name-only files-without-match",
    "null only-matching count color? break heading context= before-context= after-context=",
    "threads= show-function function-context and or not quiet all-match open-files-in-pager?",
    "ext-grep max-count=",
);

pub(super) const DESCRIBE: OptionTable = options!(
    "",
    "contains debug all tags long first-parent abbrev? exact-match candidates= match= exclude=",
    "always dirty? broken?",
);

pub(super) const NAME_REV: OptionTable = options!(
    "",
    "name-only tags refs= exclude= all stdin annotate-stdin undefined always peel-tag",
);

pub(super) const RANGE_DIFF: OptionTable = options!(
    "",
    "creation-factor= no-dual-color dual-color notes? left-only right-only",
);

pub(super) const FORMAT_PATCH: OptionTable = options!(
    "nNsv:o:kpq",
    "numbered no-numbered signoff stdout cover-letter numbered-files suffix= start-number=",
    "reroll-count= filename-max-length= rfc? cover-from-description= description-file=",
    "subject-prefix= output-directory= keep-subject no-binary binary zero-commit",
    "ignore-if-in-upstream no-stat add-header= to= cc= from? in-reply-to= attach? inline? thread?",
    "signature= base= signature-file= quiet progress interdiff= range-diff= creation-factor=",
    "force-in-body-from",
);

pub(super) const SHOW_BRANCH: OptionTable = options!(
    "arg?",
    "all remotes color? more? list no-name name current sha1-name merge-base independent",
    "topo-order topics sparse date-order reflog?",
);

pub(super) const CHERRY: OptionTable = options!("v", "abbrev? verbose");

pub(super) const ARCHIVE: OptionTable = options!(
    "o:vNl",
    "format= prefix= add-file= add-virtual-file= output= worktree-attributes verbose mtime= list",
    "remote= exec=",
);

pub(super) const STATUS: OptionTable = options!(
    "vsbzu?M?",
    "verbose short branch show-stash ahead-behind porcelain? long null untracked-files? ignored?",
    "ignore-submodules? column? no-renames renames find-renames?",
);

pub(super) const REFLOG_EXPIRE: OptionTable = options!(
    "n",
    "dry-run rewrite updateref verbose expire= expire-unreachable= stale-fix all single-worktree",
);

pub(super) const REFLOG_DELETE: OptionTable = options!("n", "dry-run rewrite updateref verbose");
