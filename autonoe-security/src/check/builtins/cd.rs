//! `cd`: changes the virtual working directory.

use std::borrow::Cow;

use crate::check::arg::Arg;
use crate::check::call::Call;
use crate::check::directories::Directories;
use crate::check::path_pattern::STAR;
use crate::check::scope::Scope;
use crate::check::survey::{MOST_VALUES, Value};
use crate::check::{path, symlinks, temporary};
use crate::syntax::{
    ArgWord, Brace, Operation, Part, Script, SimpleCommand, commands, static_text,
};
use crate::{Denial, Rule};

/// Judges `cd` and returns the directories that it changes to.
pub(crate) fn enter<'w>(call: &Call<'_, 'w, '_>) -> Result<Directories<'w>, Denial> {
    let mut args = call.args;
    while let [first, rest @ ..] = args {
        match first.known() {
            Some("-P" | "-L") => args = rest,
            Some("--") => {
                args = rest;
                break;
            }
            Some("-") => return enter_previous(call, first),
            Some(option) if option.starts_with('-') => {
                return Err(call.deny_flag(Rule::R25, option, first.span));
            }
            _ => break,
        }
    }
    let [target] = args else {
        return Err(call
            .deny(Rule::R25, "cd needs exactly one directory")
            .instead("name a directory of the project"));
    };
    if target.known().is_some() {
        if let Some(up) = leave(call, target) {
            return Ok(up);
        }
        return enter_path(call, target);
    }
    let folders = folders_of(call.context.scope, target).ok_or_else(|| not_known(target))?;
    let mut all: Option<Directories<'w>> = None;
    for folder in folders {
        let entered = enter_folder(call, target, &folder)?;
        match &mut all {
            Some(all) => all.include(&entered),
            None => all = Some(entered),
        }
    }
    all.ok_or_else(|| not_known(target))
}

/// Returns the directories after `cd -`.
///
/// If nothing follows an earlier `cd`, it only prints the name of a directory.
fn enter_previous<'w>(
    call: &Call<'_, 'w, '_>,
    target: &Arg<'_>,
) -> Result<Directories<'w>, Denial> {
    let scope = call.context.scope;
    let is_set = scope.survey().variable("OLDPWD").is_some();
    if let Some(back) = call.directories.enter_previous().filter(|_| !is_set) {
        return Ok(back);
    }
    let may_have_moved = call.directories.only() != Some(call.policy().project_dir());
    let rest = scope.text().get(target.span.end()..).unwrap_or_default();
    let rest = rest.trim_matches([' ', '\t', '\n', ';']);
    let is_last = matches!(rest, "" | ">/dev/null" | "> /dev/null") && call.depth == 0;
    if is_last && may_have_moved && !has_trap(scope.script()) {
        return Ok(call.directories.clone());
    }
    let reason = "the previous directory is unknown, if an earlier cd fails".to_owned();
    Err(deny(target, reason).instead(
        "use (cd DIRECTORY && COMMAND), which returns to the previous directory, or cd DIRECTORY \
         && COMMAND && cd -",
    ))
}

/// Returns the directories of `target`, if commands may run there.
pub(crate) fn enter_path<'w>(
    call: &Call<'_, 'w, '_>,
    target: &Arg<'_>,
) -> Result<Directories<'w>, Denial> {
    let Some(folder) = target
        .known()
        .filter(|folder| *folder != "-" && !folder.is_empty())
    else {
        return Err(not_known(target));
    };
    let entered = call.directories.enter(folder);
    let entered = entered.ok_or_else(|| escapes(target, folder))?;
    check_places(call, target, call.directories, folder)?;
    Ok(entered)
}

/// Checks that commands may run in each place that `folder` names relative to `here`.
fn check_places(
    call: &Call<'_, '_, '_>,
    target: &Arg<'_>,
    here: &Directories<'_>,
    folder: &str,
) -> Result<(), Denial> {
    let project = call.policy().project_dir();
    let places = here.resolve(folder);
    for place in places.ok_or_else(|| escapes(target, folder))? {
        if !path::is_within(&place, project) && !path::is_within(&place, "/tmp") {
            return Err(escapes(target, folder));
        }
        if path::is_protected(path::below(&place, project)) {
            let reason = format!("'{folder}' is not a place to run commands in");
            return Err(deny(target, reason));
        }
        symlinks::check(call.context, &place, target.span)?;
    }
    Ok(())
}

fn deny(target: &Arg<'_>, reason: String) -> Denial {
    Denial::by(Rule::R25, target.span, reason).instead("name a directory of the project")
}

fn not_known(target: &Arg<'_>) -> Denial {
    deny(target, "the directory is unknown until it runs".to_owned()).instead(
        "name a directory of the project; for several, use \
         for d in DIR/*/; do (cd \"$d\" && COMMAND); done",
    )
}

fn escapes(target: &Arg<'_>, folder: &str) -> Denial {
    let denial = deny(target, format!("Path '{folder}' escapes project directory"));
    if folder.starts_with("..") {
        denial.instead(
            "name a directory of the project; write (cd DIR && COMMAND) for each directory, because \
             an earlier cd may have failed",
        )
    } else {
        denial
    }
}

/// Returns the result of `cd ..` when the shell may not be below the project root, because an
/// earlier `cd` may have failed. Outside of the project only commands that read may follow.
fn leave<'w>(call: &Call<'_, 'w, '_>, target: &Arg<'_>) -> Option<Directories<'w>> {
    let folder = target
        .known()
        .filter(|_| !call.directories.may_be_outside())?;
    let ascends = folder
        .trim_end_matches('/')
        .split('/')
        .all(|name| name == "..");
    let up = call.directories.enter(folder).filter(|_| ascends)?;
    let project = call.policy().project_dir();
    let places = call.directories.resolve(folder)?;
    let (mut is_inside, mut is_outside) = (false, false);
    for place in &places {
        if path::is_within(place, project) {
            is_inside = true;
        } else if path::is_within(project, place) {
            // Only a `cd` into a subdirectory of the project can have failed.
            is_outside = true;
        } else {
            return None;
        }
    }
    let is_mixed = is_inside && is_outside && !has_trap(call.context.scope.script());
    // Below `/`, readers would reach the memory of processes.
    let is_harmless =
        !places.iter().any(|place| place == "/") || call.context.scope.is_last(target.span);
    (is_mixed && is_harmless && call.depth == 0).then_some(up)
}

/// Returns whether a script runs commands on exit, in any directory.
fn has_trap(script: &Script<'_>) -> bool {
    let is_trap = |simple: &SimpleCommand<'_>| {
        let mut words = simple.words.iter().filter_map(ArgWord::static_text);
        words.any(|word| word == "trap")
    };
    commands(script).any(is_trap)
}

/// A directory that a dynamic argument may resolve to.
enum Folder {
    /// A path that may contain patterns.
    Path(String),
    /// A path below the top of the repository.
    BelowTop(String),
}

/// Checks that the project is the top of its repository, as far as the file system is known.
fn is_repository(call: &Call<'_, '_, '_>, target: &Arg<'_>) -> Result<(), Denial> {
    let project = call.policy().project_dir();
    let links = call.context.links;
    if links.is_none_or(|links| links.resolve(&format!("{project}/.git")).is_some()) {
        return Ok(());
    }
    let reason = "the repository begins above the project".to_owned();
    Err(deny(target, reason).instead("name a directory of the project by its path"))
}

fn enter_folder<'w>(
    call: &Call<'_, 'w, '_>,
    target: &Arg<'_>,
    folder: &Folder,
) -> Result<Directories<'w>, Denial> {
    let (here, folder) = match folder {
        Folder::Path(folder) => (Cow::Borrowed(call.directories), folder),
        Folder::BelowTop(folder) => {
            is_repository(call, target)?;
            (Cow::Owned(call.directories.top_levels()), folder)
        }
    };
    let Some(first) = folder.split('/').position(|name| name.contains(STAR)) else {
        let folder = if folder.is_empty() { "." } else { folder };
        check_places(call, target, &here, folder)?;
        return here.enter(folder).ok_or_else(|| escapes(target, folder));
    };
    let names: Vec<&str> = folder.split('/').collect();
    let (above, below) = names.split_at(first);
    // `*` does not match names with a leading dot, but `.*` matches `..`.
    let is_hidden = |name: &&str| name.starts_with('.');
    if below.iter().any(is_hidden) {
        return Err(not_known(target));
    }
    let above = match (above.join("/"), folder.starts_with('/')) {
        (above, true) if above.is_empty() => return Err(not_known(target)),
        (above, _) if above.is_empty() => ".".to_owned(),
        (above, _) => above,
    };
    check_places(call, target, &here, &above)?;
    let may_be_sessions = below
        .first()
        .is_some_and(|name| path::pattern_may_be_sessions_folder(&name.replace(STAR, "*")));
    let places = here.resolve(&above).into_iter().flatten();
    if may_be_sessions && places.into_iter().any(|place| place == "/tmp") {
        let reason = "the directory may be the folder of sessions".to_owned();
        return Err(deny(target, reason));
    }
    here.enter_below(&above)
        .ok_or_else(|| escapes(target, &above))
}

/// Returns the directories that `target` may resolve to: a variable that only holds paths or
/// patterns, or the top of the repository, followed by text.
fn folders_of(scope: &Scope<'_>, target: &Arg<'_>) -> Option<Vec<Folder>> {
    if target.tilde {
        return None;
    }
    // Without quotes, the expansion may be several words.
    let is_quoted = target.unknown.is_some_and(|unknown| unknown.quoted);
    let mut flat = Vec::new();
    for part in target.parts.iter() {
        match part {
            Part::DoubleQuoted(inner) => flat.extend(inner),
            part => flat.push(part),
        }
    }
    let is_text = |part: &&Part<'_>| matches!(part, Part::Literal(_) | Part::Quoted(_));
    let at = flat.iter().position(|part| !is_text(part))?;
    let text = |parts: &[&Part<'_>]| -> Option<String> {
        let text = parts.iter().map(|part| match part {
            Part::Literal(text) | Part::Quoted(text) => Some(text.as_ref()),
            _ => None,
        });
        text.collect()
    };
    let (before, after) = (text(&flat[..at])?, text(&flat[at + 1..])?);
    let around = |value: &str| Folder::Path(format!("{before}{value}{after}"));
    let below_top = || {
        let is_path = after.is_empty() || after.starts_with('/');
        let after = after.trim_start_matches('/').to_owned();
        (before.is_empty() && is_path && is_quoted).then(|| vec![Folder::BelowTop(after)])
    };
    let is_alone = is_quoted && before.is_empty() && after.is_empty();
    if is_alone && temporary::is_temporary(scope, flat[at], target.span.start()) {
        // Without a value, the shell stays in its directory. A template of `mktemp` never has the
        // name of the sessions folder.
        let made = format!("/tmp/mktemp.{STAR}");
        return Some(vec![Folder::Path(made), Folder::Path(".".to_owned())]);
    }
    match flat[at] {
        part if is_top_level(part) => below_top(),
        Part::Parameter(parameter) => {
            if parameter.operation != Operation::Value || parameter.subscript.is_some() {
                return None;
            }
            let variable = scope.survey().variable(&parameter.name)?;
            let is_set = scope.is_set(&parameter.name, variable, target.span.start());
            let is_plain = !variable.is_array && !variable.is_declared;
            let is_usable = is_set && is_plain && variable.has_few_values();
            if !is_usable || scope.appends_to(&parameter.name) {
                return None;
            }
            if variable.always(|given| is_set_to_top(given.value)) {
                return below_top();
            }
            let mut folders = Vec::new();
            for given in &variable.values {
                match given.value {
                    Value::OneOf(words) => {
                        for word in words {
                            folders
                                .extend(paths(&word.parts, is_quoted)?.iter().map(|it| around(it)));
                        }
                    }
                    Value::String { head: "", rest } => {
                        folders.push(around(static_text(rest).filter(|it| is_word(it))?.as_ref()));
                    }
                    _ => return None,
                }
            }
            (!folders.is_empty()).then_some(folders)
        }
        _ => None,
    }
}

/// Returns the paths that a word after `in` may expand to, with [`STAR`] for patterns.
fn paths(parts: &[Part<'_>], is_quoted: bool) -> Option<Vec<String>> {
    if let [Part::Brace(brace)] = parts
        && let Brace::Alternatives(all) = brace.as_ref()
        && all.len() <= MOST_VALUES
    {
        let paths = all.iter().map(|parts| paths(parts, is_quoted));
        let paths: Option<Vec<_>> = paths.collect();
        return paths.map(|paths| paths.concat());
    }
    let mut path = String::new();
    for part in parts {
        match part {
            Part::Literal(text) | Part::Quoted(text) if is_word(text) => path.push_str(text),
            Part::Glob('*' | '?') if is_quoted => path.push(STAR),
            _ => return None,
        }
    }
    (!path.is_empty()).then(|| vec![path])
}

/// Returns whether text stays one argument of `cd` that is a path.
fn is_word(text: &str) -> bool {
    !text.starts_with('-') && !text.contains([' ', '\t', '\n', '*', '?', '[', '~'])
}

fn is_set_to_top(value: Value<'_>) -> bool {
    let Value::String { head: "", rest } = value else {
        return false;
    };
    match rest {
        [Part::DoubleQuoted(inner)] => matches!(&inner[..], [part] if is_top_level(part)),
        [part] => is_top_level(part),
        _ => false,
    }
}

/// Returns whether a part is `$(git rev-parse --show-toplevel)`.
fn is_top_level(part: &Part<'_>) -> bool {
    let Part::CommandSubstitution(inner) = part else {
        return false;
    };
    let words = inner
        .script
        .only_command()
        .and_then(|command| match &command.kind {
            crate::syntax::CommandKind::Simple(simple)
                if command.redirects.is_empty() && simple.assignments.is_empty() =>
            {
                simple.static_words()
            }
            _ => None,
        });
    words.is_some_and(|words| words.iter().eq(["git", "rev-parse", "--show-toplevel"]))
}
