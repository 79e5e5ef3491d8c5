//! Names that `find` is told to look for, when it hands them to `cp`.

use super::aims::looks_for;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::path;
use crate::check::write_target::protected;

/// Primaries that take a name or a path to look for.
const LOOKING: &[&str] = &[
    "-name",
    "-iname",
    "-path",
    "-ipath",
    "-wholename",
    "-iwholename",
    "-regex",
    "-iregex",
];

/// Checks that what stands in front of `-exec cp` does not look for a protected folder.
pub(super) fn check(before: &[Arg<'_>]) -> Checked {
    let wanted = (0..before.len()).find(|at| is_wanted(before, *at));
    match wanted.map(|at| &before[at]) {
        Some(arg) => Err(protected(arg, &format!("'{}'", arg.text))),
        None => Ok(()),
    }
}

/// Tells whether find looks for a protected folder by the argument `at`, or begins there.
fn is_wanted(args: &[Arg<'_>], at: usize) -> bool {
    let before = |steps: usize| {
        at.checked_sub(steps)
            .map_or("", |at| args[at].text.as_ref())
    };
    let path = args[at].text.replace('\\', "");
    let name = path
        .trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or_default();
    let mut names = path::STATE_FOLDERS.iter().chain(&[".git"]);
    let is_protected = names.any(|protected| looks_for(name, protected));
    let looks = LOOKING.contains(&before(1));
    let is_start = args[..=at].iter().all(|arg| !arg.text.starts_with('-'));
    let is_negated = matches!(before(2), "!" | "-not");
    is_protected && ((looks && !is_negated && !is_passed_over(&args[at..])) || is_start)
}

/// Tells whether what matches is passed over: `-prune -o` follows.
fn is_passed_over(args: &[Arg<'_>]) -> bool {
    args.windows(2)
        .any(|pair| pair[0].is("-prune") && (pair[1].is("-o") || pair[1].is("-or")))
}
