//! Arguments of programs that search: patterns, directories and commands to run.

use std::ops::Range;

use super::arg::Arg;
use super::call::Call;

/// Commands whose first operand is a pattern or a program.
const PATTERN_FIRST: &[&str] = words!("awk egrep fd fdfind fgrep gawk grep jq mawk nawk rg sed");

/// Returns the index of the argument that is the pattern or program of `call`, if there is one.
pub(crate) fn pattern(call: &Call<'_, '_, '_>) -> Option<usize> {
    let (skipped, has_pattern) = match call.name {
        "git" if call.args.first().is_some_and(|arg| arg.is("grep")) => (1, true),
        name => (0, PATTERN_FIRST.contains(&name)),
    };
    if !has_pattern || call.args.iter().any(names_pattern) {
        return None;
    }
    let mut args = call.args.iter().enumerate().skip(skipped);
    args.find_map(|(at, arg)| match arg.text.as_ref() {
        // Behind it, everything is an operand.
        "--" => Some(at + 1),
        text if text.starts_with('-') && text.len() > 1 => None,
        _ if is_count(call, at) => None,
        _ => Some(at),
    })
}

/// Returns whether an option has a pattern as its value, or a file with patterns.
fn names_pattern(arg: &Arg<'_>) -> bool {
    let text = arg.text.as_ref();
    match text.strip_prefix("--") {
        Some(long) => ["reg", "file", "expr"]
            .iter()
            .any(|option| long.starts_with(option)),
        None => text.starts_with('-') && text.contains(['e', 'f']),
    }
}

/// Returns whether the argument `at` is the value of `-m` or `-C`, such as 3 in `grep -nC 3`.
fn is_count(call: &Call<'_, '_, '_>, at: usize) -> bool {
    // Letters that take no value, so that another one may follow them.
    let flags = match call.name {
        "rg" => "FHILNPSUVachilnopqsuvwxz",
        "egrep" | "fgrep" | "git" | "grep" => "EFGHILPRTUVWZabchilnopqrsuvwxyz",
        _ => return false,
    };
    let text = call.args[at].text.as_ref();
    let before = at.checked_sub(1).map(|before| &call.args[before]);
    let letters = before.and_then(|it| it.text.strip_prefix('-'));
    let letters = letters.and_then(|it| it.strip_suffix(['m', 'A', 'B', 'C']));
    letters.is_some_and(|letters| letters.chars().all(|letter| flags.contains(letter)))
        && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns whether grep reads everything below the directories that it is given.
pub(crate) fn is_recursive_grep(call: &Call<'_, '_, '_>) -> bool {
    matches!(call.name, "egrep" | "fgrep" | "grep")
        && call.args.iter().any(|arg| {
            let text = arg.text.as_ref();
            match text.strip_prefix("--") {
                Some(long) => ["r", "dereference-r", "directories"]
                    .iter()
                    .any(|option| long.starts_with(option)),
                None => text.starts_with('-') && text.contains(['r', 'R', 'd']),
            }
        })
}

/// Returns the arguments of `find` that are directories to search.
pub(crate) fn find_starts(call: &Call<'_, '_, '_>) -> Range<usize> {
    let is_leading = |arg: &Arg<'_>| {
        matches!(arg.text.as_ref(), "-H" | "-L" | "-P") || arg.text.starts_with("-O")
    };
    let is_condition = |arg: &Arg<'_>| arg.text.starts_with(['-', '(', '!']);
    let start = call.args.iter().position(|arg| !is_leading(arg));
    let start = start.unwrap_or(0);
    let end = call.args[start..].iter().position(is_condition);
    start..end.map_or(call.args.len(), |end| start + end)
}

/// Returns the names of the commands that `find` or `fd` runs on what it finds.
pub(crate) fn started<'c>(call: &'c Call<'_, '_, '_>) -> impl Iterator<Item = &'c str> {
    let is_exec = |arg: &Arg<'_>| {
        matches!(
            arg.text.as_ref(),
            "-exec" | "-execdir" | "-x" | "-X" | "--exec" | "--exec-batch"
        )
    };
    let pairs = call.args.windows(2).filter(move |pair| is_exec(&pair[0]));
    pairs.map(|pair| pair[1].text.as_ref())
}
