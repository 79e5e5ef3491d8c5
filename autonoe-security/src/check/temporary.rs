//! Values printed by `mktemp`: new files and directories in the temporary folder.

use super::arg::Arg;
use super::preceding::has_succeeded;
use super::scope::Scope;
use super::survey::Value;
use crate::check::text::has_only;
use crate::syntax::{CommandKind, Operation, Part, SimpleCommand};

/// Returns whether `arg` is exactly the output of `mktemp`, or empty because it failed.
///
/// With a suffix, an empty value would form another path: `"$d/etc/x"`.
pub(crate) fn is_mktemp_output(scope: &Scope<'_>, arg: &Arg<'_>) -> bool {
    match &arg.parts[..] {
        [Part::DoubleQuoted(inner)] if !arg.tilde => {
            matches!(&inner[..], [part] if is_temporary(scope, part, arg.span.start()))
        }
        _ => false,
    }
}

/// Returns the path after the output of `mktemp` in `arg`, with its patterns: `/*.tgz` in
/// `"$dir"/*.tgz`. It starts with a slash, so `arg` is an absolute path, or several.
pub(crate) fn path_below(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<String> {
    let parts = arg.flat_parts();
    let [Part::DoubleQuoted(first), ..] = &arg.parts[..] else {
        return None;
    };
    let is_made = first
        .first()
        .is_some_and(|part| is_temporary(scope, part, arg.span.start()));
    if !is_made {
        return None;
    }
    let mut below = String::new();
    for part in parts.skip(1) {
        match part {
            Part::Literal(text) | Part::Quoted(text) => below.push_str(text),
            Part::Glob(glob) => below.push(*glob),
            _ => return None,
        }
    }
    below.starts_with('/').then_some(below)
}

/// Returns an example of the path that `arg` names, if it begins with the output of a `mktemp` that
/// has succeeded: `"$d/x"` in `d=$(mktemp -d) && cp a "$d/x"`.
pub(crate) fn certain_path(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<String> {
    let below = path_below(scope, arg).filter(|_| !arg.is_pattern())?;
    let first = arg.parts.first()?;
    let Part::DoubleQuoted(inner) = first else {
        return None;
    };
    let Some(Part::Parameter(parameter)) = inner.first() else {
        return None;
    };
    let name = &parameter.name;
    let is_set_once = scope.survey().variable(name)?.values.len() == 1;
    let sets = |simple: &SimpleCommand<'_>| {
        simple.words.is_empty() && simple.assignments.iter().any(|it| it.name == *name)
    };
    (is_set_once && scope.reserve_search() && has_succeeded(scope, arg.span, &sets))
        .then(|| format!("/tmp/tmp.0{below}"))
}

/// Extensions of files that programs write for a text. No file of the root directory has them.
const EXTENSIONS: &[&str] = words!(
    "css csv db diff err html js json jsonl log md out patch png py rb sh sql svg toml ts txt xml yaml",
    "yml",
);

fn has_extension(name: &str) -> bool {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}

/// Returns an example of the path that `arg` names, if it is a file directly below the output of
/// `mktemp`: `"$d/out.json"`.
///
/// If `mktemp` failed, that is a new file in the root directory, which only the superuser may make.
pub(crate) fn file_path(scope: &Scope<'_>, arg: &Arg<'_>) -> Option<String> {
    let below = path_below(scope, arg).filter(|_| !arg.is_pattern())?;
    let name = below.strip_prefix('/')?;
    let is_plain = !name.starts_with('.') && has_only(name, "._-");
    (is_plain && has_extension(name)).then(|| format!("/tmp/tmp.0{below}"))
}

/// Returns whether the expansion `part`, used at `at`, is the output of `mktemp`.
pub(crate) fn is_temporary(scope: &Scope<'_>, part: &Part<'_>, at: usize) -> bool {
    // With another temporary folder, the value is not known to be absolute.
    let is_usual = || scope.survey().variable("TMPDIR").is_none() && !scope.inherits("TMPDIR");
    match part {
        Part::CommandSubstitution(_) => is_mktemp(part) && is_usual(),
        Part::Parameter(parameter) => {
            if parameter.operation != Operation::Value || parameter.subscript.is_some() {
                return false;
            }
            let name = &parameter.name;
            let Some(variable) = scope.survey().variable(name) else {
                return false;
            };
            let is_plain = !variable.is_array && !variable.is_declared;
            is_plain
                && variable.always(|given| is_set_to_mktemp(given.value))
                && scope.is_set(name, variable, at)
                && !scope.appends_to(name)
                && is_usual()
        }
        _ => false,
    }
}

fn is_set_to_mktemp(value: Value<'_>) -> bool {
    let Value::String { head: "", rest } = value else {
        return false;
    };
    match rest {
        [Part::DoubleQuoted(inner)] => matches!(&inner[..], [part] if is_mktemp(part)),
        [part] => is_mktemp(part),
        _ => false,
    }
}

/// Returns whether a part is `$(mktemp ..)` with a name in the temporary folder.
fn is_mktemp(part: &Part<'_>) -> bool {
    let Part::CommandSubstitution(inner) = part else {
        return false;
    };
    let Some(command) = inner.script.only_command() else {
        return false;
    };
    let CommandKind::Simple(simple) = &command.kind else {
        return false;
    };
    command.redirects.is_empty()
        && simple.assignments.is_empty()
        && simple.has_static_words(names_temporary_file)
}

/// Returns whether the words are `mktemp ..` in the usual temporary folder, so that it prints an
/// absolute path or nothing.
pub(crate) fn prints_absolute_path(scope: &Scope<'_>, words: &[&str]) -> bool {
    names_temporary_file(words)
        && scope.survey().variable("TMPDIR").is_none()
        && !scope.inherits("TMPDIR")
}

/// Returns whether the words are `mktemp ..` with a name in the temporary folder.
fn names_temporary_file(words: &[&str]) -> bool {
    let Some(("mktemp", args)) = words.split_first().map(|(name, args)| (*name, args)) else {
        return false;
    };
    let is_plain = |name: &str| has_only(name, "._-");
    let is_template =
        |name: &str| name.starts_with(|c: char| c.is_ascii_alphanumeric()) && is_plain(name);
    let (mut is_relative, mut template) = (false, None);
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match *arg {
            "-p" if rest.next() == Some(&"/tmp") => is_relative = true,
            "-d" | "-q" | "--directory" | "--quiet" => {}
            "-t" | "-dt" | "--tmpdir" | "--tmpdir=/tmp" | "-p/tmp" => is_relative = true,
            option if option.starts_with('-') => match option.strip_prefix("--suffix=") {
                Some(suffix) if is_plain(suffix) && has_extension(suffix) => {}
                _ => return false,
            },
            name if template.is_none() => template = Some(name),
            _ => return false,
        }
    }
    match template {
        // BSD takes the template as the value of `-t`.
        None => !args.contains(&"-t") && !args.contains(&"-dt"),
        Some(name) if is_relative => is_template(name),
        Some(path) => path.strip_prefix("/tmp/").is_some_and(is_template),
    }
}
