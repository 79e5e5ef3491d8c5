//! Files that a search passes to a command that copies or changes them.

use super::glob_targets::selects_name;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::path;
use crate::check::write_target::{Root, protected};

/// Conditions that only exclude files; each takes a value.
const NARROWING: &[&str] = words!("-path -ipath -name -iname -wholename -regex");

/// Extensions of files that Git keeps in `.git`.
const GIT_EXTENSIONS: &[&str] = words!("bitmap graph idx keep lock pack rev sample");

/// Returns patterns for the files that `find` with these arguments passes to `-exec`.
///
/// They are known well enough if the search starts strictly inside the project or `/tmp`, follows
/// no symlinks, and only finds files with a name such as `*.ts`: no relevant file below a `.git`
/// has such a name. `None` in every other case.
pub(super) fn patterns<'s>(call: &Call<'_, '_, 's>, arguments: &[Arg<'s>]) -> Option<Vec<Arg<'s>>> {
    let is_place = |arg: &&Arg<'_>| !arg.text.starts_with(['-', '(', '!']);
    let places = arguments.iter().take_while(is_place).count();
    let (places, conditions) = arguments.split_at(places);
    let is_known = !places.is_empty()
        && places.iter().all(|place| is_strictly_inside(call, place))
        && conditions.iter().all(Arg::is_static)
        && finds_named_files(conditions);
    is_known.then(|| places.iter().map(files_below).collect())
}

/// Returns whether the starting point of a search is literal and strictly inside the project or
/// `/tmp`.
pub(super) fn is_strictly_inside(call: &Call<'_, '_, '_>, place: &Arg<'_>) -> bool {
    let Some(text) = place.known() else {
        return false;
    };
    // A search of all of `/tmp` finds the sessions folders.
    call.directories
        .all_locations(text, |place| place != "/tmp")
        && call.check_write_target(place, Root::Refused).is_ok()
}

/// Returns whether a search with these arguments excludes the note of a sync: it selects names with
/// another extension.
pub(super) fn exclude_note(arguments: &[Arg<'_>]) -> bool {
    arguments.windows(2).any(|pair| {
        let name = pair[1].text.as_ref();
        pair[0].is("-name") && has_extension(name) && !name.to_ascii_lowercase().ends_with("md")
    })
}

/// Returns whether every file that satisfies the conditions has a name with an extension.
fn finds_named_files(conditions: &[Arg<'_>]) -> bool {
    let words: Vec<&str> = conditions.iter().map(|arg| arg.text.as_ref()).collect();
    let mut rest = &words[..];
    let mut has_name = false;
    while !rest.is_empty() {
        rest = match rest {
            ["-name" | "-iname", name, rest @ ..] if has_extension(name) => {
                has_name = true;
                rest
            }
            ["(", group @ ..] => {
                let Some(end) = group.iter().position(|word| *word == ")") else {
                    return false;
                };
                if !is_list_of_names(&group[..end]) {
                    return false;
                }
                has_name = true;
                &group[end + 1..]
            }
            ["!" | "-not", condition, _, rest @ ..] if NARROWING.contains(condition) => rest,
            [condition, _, rest @ ..] if NARROWING.contains(condition) => rest,
            ["-type", "f", rest @ ..] => rest,
            [
                "-maxdepth" | "-mindepth" | "-size" | "-newer" | "-mtime" | "-mmin",
                _,
                rest @ ..,
            ] => rest,
            ["-a" | "-and", rest @ ..] => rest,
            _ => return false,
        };
    }
    has_name
}

/// Returns whether a group is `-name X -o -name Y ..`.
fn is_list_of_names(group: &[&str]) -> bool {
    let mut alternatives = group.split(|word| matches!(*word, "-o" | "-or"));
    alternatives.all(|words| matches!(words, ["-name" | "-iname", name] if has_extension(name)))
}

/// Returns whether a pattern only matches names with a literal extension.
pub(super) fn has_extension(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && !extension.is_empty()
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && !GIT_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str())
    })
}

pub(super) fn files_below<'s>(place: &Arg<'s>) -> Arg<'s> {
    let text = format!("{}/*", place.text.trim_end_matches('/'));
    Arg {
        globs: vec![text.len() - 1],
        ..Arg::plain(text, place.span)
    }
}

/// Primaries that take a name or a path pattern.
const NAME_PRIMARIES: &[&str] =
    words!("-name -iname -path -ipath -wholename -iwholename -regex -iregex");

/// Checks that the conditions before `-exec cp` do not select a protected folder.
pub(super) fn check_copied(before: &[Arg<'_>]) -> Checked {
    let wanted = (0..before.len()).find(|at| selects_protected_folder(before, *at));
    match wanted.map(|at| &before[at]) {
        Some(arg) => Err(protected(arg, &format!("'{}'", arg.text))),
        None => Ok(()),
    }
}

/// Returns whether find selects a protected folder by the argument `at`, or starts there.
fn selects_protected_folder(args: &[Arg<'_>], at: usize) -> bool {
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
    let is_protected = names.any(|protected| selects_name(name, protected));
    let looks = NAME_PRIMARIES.contains(&before(1));
    let is_start = args[..=at].iter().all(|arg| !arg.text.starts_with('-'));
    let is_negated = matches!(before(2), "!" | "-not");
    is_protected && ((looks && !is_negated && !is_pruned(&args[at..])) || is_start)
}

/// Returns whether matches are skipped: `-prune -o` follows.
fn is_pruned(args: &[Arg<'_>]) -> bool {
    args.windows(2)
        .any(|pair| pair[0].is("-prune") && (pair[1].is("-o") || pair[1].is("-or")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_be_found_needs_an_extension() {
        for (conditions, expected) in [
            ("-name *.ts", true),
            ("-type f -name *.ts", true),
            ("-maxdepth 2 -iname *.JS -not -path */node_modules/*", true),
            ("( -name *.ts -o -name *.tsx )", true),
            ("-type f ( -name *.ts -o -name *.tsx ) ! -name *.d.ts", true),
            ("-name package.json", true),
            ("", false),
            ("-type f", false),
            ("-name *", false),
            ("-name config", false),
            ("-name *.sample", false),
            ("-name *.Lock", false),
            ("-name .gitmodules", false),
            ("-name *.t*", false),
            ("-name *.ts -o -type f", false),
            ("-name *.ts -o -name *.js", false),
            ("( -name *.ts -o -type f )", false),
            ("( -name *.ts", false),
            ("! -name *.ts", false),
            ("-name *.ts -follow", false),
            ("-name *.ts ,", false),
        ] {
            let words: Vec<Arg<'_>> = conditions
                .split_whitespace()
                .map(|word| Arg::plain(word, crate::syntax::Span::default()))
                .collect();
            assert_eq!(finds_named_files(&words), expected, "{conditions}");
        }
    }
}
