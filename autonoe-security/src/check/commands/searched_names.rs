//! Names that a search prints, separated by NUL, for `xargs -0`.
//!
//! The names are known well enough to change the files if the search starts strictly inside the
//! project or `/tmp`, follows no symlinks, and prints only names with an extension, or names of
//! tracked files. Each name then begins with the place of the search, so it is no option.

use super::find_results::{self, files_below, has_extension, is_strictly_inside};
use super::search;
use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::context::Context;
use crate::check::directories::Directories;
use crate::check::options::{self, ParsedArg};
use crate::check::resolve::arguments;
use crate::check::text::has_only;
use crate::option_table::OptionTable;
use crate::syntax::{
    ArgWord, Command, CommandKind, Redirect, RedirectOperator, RedirectTarget, SimpleCommand,
};

/// Returns patterns for the names that `consumer`, an `xargs`, reads from the commands before it;
/// nothing if they are not known well enough.
pub(in crate::check) fn read<'s>(
    context: &Context<'_, 's>,
    before: &'s [Command<'s>],
    consumer: &'s Command<'s>,
    here: &Directories<'_>,
) -> Vec<Arg<'s>> {
    let is_xargs = |simple: &SimpleCommand<'_>| {
        let name = simple.words.first().and_then(ArgWord::static_text);
        name.as_deref() == Some("xargs")
    };
    let [producer] = before else {
        return Vec::new();
    };
    let Some(producer) = plain(consumer)
        .filter(|simple| is_xargs(simple))
        .and_then(|_| plain(producer))
    else {
        return Vec::new();
    };
    names(context, producer, here).unwrap_or_default()
}

/// Returns a simple command that sets no variable and at most hides its errors.
fn plain<'t, 's>(command: &'t Command<'s>) -> Option<&'t SimpleCommand<'s>> {
    match &command.kind {
        CommandKind::Simple(simple) => {
            let is_plain =
                simple.assignments.is_empty() && command.redirects.iter().all(hides_errors);
            is_plain.then_some(simple)
        }
        _ => None,
    }
}

fn hides_errors(redirect: &Redirect<'_>) -> bool {
    let target = match &redirect.target {
        RedirectTarget::Word(word) => word.static_text(),
        RedirectTarget::HereDocument(_) => None,
    };
    redirect.descriptor == Some(2)
        && redirect.operator == RedirectOperator::Write
        && target.as_deref() == Some("/dev/null")
}

fn names<'s>(
    context: &Context<'_, 's>,
    producer: &'s SimpleCommand<'s>,
    here: &Directories<'_>,
) -> Option<Vec<Arg<'s>>> {
    let mut words = Vec::with_capacity(producer.words.len());
    for word in &producer.words {
        match word {
            ArgWord::Word(word) => arguments(word, context.scope, &mut words).ok()?,
            ArgWord::Array(_) => return None,
        }
    }
    let (name, args) = words.split_first()?;
    let name = name.known()?;
    let call = Call {
        context,
        directories: here,
        name,
        known: context.policy.known(name),
        span: producer.span,
        args,
        is_bare: true,
        arrays: &[],
        wrapper_variables: &[],
        input: None,
        input_file: None,
        found_names: &[],
        depth: context.depth,
    };
    match name {
        "rg" => of_search(&call, &search::RG.options, &RG),
        "fd" | "fdfind" => of_search(&call, &search::FD.options, &FD),
        "grep" => of_search(&call, &GREP_OPTIONS, &GREP),
        "find" => {
            let (last, arguments) = args.split_last()?;
            let names = find_results::patterns(&call, arguments);
            names.filter(|_| last.is("-print0"))
        }
        "git" => of_git(&call),
        _ => None,
    }
}

/// The options of a search that print nothing but names, and follow no symlinks.
struct Search {
    /// Options of which one separates names by NUL.
    separating: &'static [&'static str],
    /// Options of which one prints names instead of lines; all searches do so if it is empty.
    listing: &'static [&'static str],
    /// Further options, which only choose files or lines.
    choosing: &'static [&'static str],
    /// Options whose value is a pattern of names.
    naming: &'static [&'static str],
    /// Options whose value is an extension or a type of files.
    typing: &'static [&'static str],
    /// Options that replace the pattern among the operands.
    replacing: &'static [&'static str],
    /// Options without which the search does not descend.
    descending: &'static [&'static str],
}

const RG: Search = Search {
    separating: words!("-0 --null"),
    listing: words!("-l --files-with-matches --files --files-without-match"),
    choosing: words!(
        "-F -P -S -U -i -s -w -x -e -d -T --case-sensitive --fixed-strings --ignore-case",
        "--line-regexp --max-depth --multiline --no-messages --pcre2 --regexp --smart-case",
        "--type-not --word-regexp",
    ),
    naming: words!("-g --glob"),
    typing: words!("-t --type"),
    replacing: words!("-e --regexp --files"),
    descending: &[],
};

const FD: Search = Search {
    separating: words!("-0 --print0"),
    listing: &[],
    choosing: words!("-F -d -g -i -p -s --case-sensitive --fixed-strings --full-path --glob"),
    naming: &[],
    typing: words!("-e --extension"),
    replacing: &[],
    descending: &[],
};

const GREP: Search = Search {
    separating: words!("-Z --null"),
    listing: words!("-l --files-with-matches -L --files-without-match"),
    choosing: words!(
        "-E -F -P -e -i -s -w -x --exclude --exclude-dir --extended-regexp --fixed-strings",
        "--ignore-case --no-messages --perl-regexp --regexp --word-regexp",
    ),
    naming: words!("--include"),
    typing: &[],
    replacing: words!("-e --regexp"),
    descending: words!("-r --recursive"),
};

const GREP_OPTIONS: OptionTable = options!(
    "EFLPZilrswxe:",
    "exclude= exclude-dir= extended-regexp files-with-matches files-without-match fixed-strings",
    "ignore-case include= no-messages null perl-regexp recursive regexp= word-regexp",
);

/// Returns the patterns of a search that selects files by their names.
fn of_search<'s>(
    call: &Call<'_, '_, 's>,
    table: &OptionTable,
    search: &Search,
) -> Option<Vec<Arg<'s>>> {
    let (mut is_separated, mut is_list) = (false, search.listing.is_empty());
    let (mut has_name, mut has_pattern) = (false, false);
    let mut descends = search.descending.is_empty();
    let mut operands = Vec::new();
    for parsed in options::read(call, table).ok()? {
        let (name, value) = match parsed {
            ParsedArg::Operand(operand) => {
                operands.push(operand);
                continue;
            }
            ParsedArg::Option { name, value, .. } => (name, value),
        };
        let name = name.as_str();
        let text = value.as_ref().and_then(|value| value.known());
        has_pattern |= search.replacing.contains(&name);
        if search.separating.contains(&name) {
            is_separated = true;
        } else if search.listing.contains(&name) {
            is_list = true;
        } else if search.descending.contains(&name) {
            descends = true;
        } else if search.naming.contains(&name) {
            let glob = text?;
            let excludes = glob.starts_with('!');
            if !excludes && !is_glob_of_files(glob) {
                return None;
            }
            has_name |= !excludes;
        } else if search.typing.contains(&name) {
            if !is_type_of_files(text?) {
                return None;
            }
            has_name = true;
        } else if !search.choosing.contains(&name) {
            return None;
        }
    }
    if !has_pattern {
        operands = operands.get(1..)?.to_vec();
    }
    let is_known = is_separated && is_list && has_name && descends && !operands.is_empty();
    let is_inside = |place: &&Arg<'_>| is_strictly_inside(call, place);
    (is_known && operands.iter().all(is_inside))
        .then(|| operands.iter().map(|place| files_below(place)).collect())
}

/// Returns whether a pattern only matches files with an extension, and no hidden folders.
fn is_glob_of_files(glob: &str) -> bool {
    // The ledgers of projects in it are JSON.
    let is_state = glob.ends_with(".json") || glob.ends_with(".jsonl");
    has_only(glob, "_-./*")
        && has_extension(glob)
        && !is_state
        && !glob.split('/').any(|name| name.starts_with('.'))
}

/// Names of types whose files have extensions, in `rg` and `fd`.
fn is_type_of_files(name: &str) -> bool {
    const TYPES: &[&str] = words!(
        "astro c clojure cpp cs css csharp cxx dart elixir ex exs go h haskell hpp hs htm html java",
        "jl js jsx julia kotlin kt less lua markdown md mdx mjs php pl proto protobuf py python",
        "rb rs rst ruby rust sass scala scss sh sql svelte swift tf toml ts tsx txt typescript vue xml",
        "yaml yml zig",
    );
    TYPES.contains(&name)
}

const GIT_OPTIONS: OptionTable = options!(
    "EFPcilmwze:",
    "cached extended-regexp files-with-matches fixed-strings ignore-case modified name-only null",
    "perl-regexp word-regexp",
);

/// Returns the patterns of `git ls-files -z -- PATHS` and `git grep -lz PATTERN -- PATHS`, which
/// print tracked files.
fn of_git<'s>(call: &Call<'_, '_, 's>) -> Option<Vec<Arg<'s>>> {
    let (subcommand, args) = call.args.split_first()?;
    let is_grep = match subcommand.known()? {
        "grep" => true,
        "ls-files" => false,
        _ => return None,
    };
    let dashes = args.iter().position(|arg| arg.is("--"));
    let (own, paths) = match dashes {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (args, &args[..0]),
    };
    let own = Call { args: own, ..*call };
    let (mut is_separated, mut is_list, mut has_pattern) = (false, !is_grep, false);
    let mut operands = Vec::new();
    for parsed in options::read(&own, &GIT_OPTIONS).ok()? {
        match parsed {
            ParsedArg::Operand(operand) => operands.push(operand),
            ParsedArg::Option { name, .. } => match name.as_str() {
                "-z" | "--null" => is_separated = true,
                "-l" | "--files-with-matches" | "--name-only" if is_grep => is_list = true,
                "-c" | "-m" | "--cached" | "--modified" if !is_grep => {}
                "-e" if is_grep => has_pattern = true,
                "-i" | "-w" | "-E" | "-F" | "-P" | "--ignore-case" | "--word-regexp"
                | "--extended-regexp" | "--fixed-strings" | "--perl-regexp"
                    if is_grep => {}
                _ => return None,
            },
        }
    }
    // Revisions may precede the paths of `git grep`.
    let places: Vec<&Arg<'_>> = match (is_grep, operands.len()) {
        (true, 0) if has_pattern => paths.iter().collect(),
        (true, 1) if !has_pattern => paths.iter().collect(),
        (false, _) => operands.into_iter().chain(paths).collect(),
        _ => return None,
    };
    let folders: Option<Vec<Arg<'_>>> = places.iter().map(|place| folder_of(place)).collect();
    let folders = folders.filter(|folders| {
        is_separated && is_list && !folders.is_empty() && {
            let mut folders = folders.iter();
            folders.all(|folder| is_strictly_inside(call, folder))
        }
    })?;
    Some(folders.iter().map(files_below).collect())
}

/// Returns the folder before the wildcards of a pathspec such as `src/*.ts`.
fn folder_of<'s>(path: &Arg<'s>) -> Option<Arg<'s>> {
    let text = path.known()?;
    let first = text.trim_start_matches("./");
    if text.starts_with([':', '!', '^']) || text.contains('\\') || first.starts_with('-') {
        return None;
    }
    let wild = text.find('*')?;
    let folder = &text[..text[..wild].rfind('/')?];
    is_glob_of_files(&text[folder.len()..]).then(|| Arg::plain(folder.to_owned(), path.span))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_globs_with_an_extension_choose_files() {
        for glob in ["*.ts", "**/*.tsx", "src/**/*.rs"] {
            assert!(is_glob_of_files(glob), "{glob}");
        }
        for glob in [
            "*",
            ".*",
            ".git/**/*.ts",
            "*.sample",
            "*.{ts,git}",
            "config",
            "*.t*",
        ] {
            assert!(!is_glob_of_files(glob), "{glob}");
        }
    }
}
