//! `find`: searching, and running allowed commands on the results.

use std::borrow::Cow;

use super::find_results;
use crate::check::arg::{Arg, Unknown};
use crate::check::call::{Call, Checked};
use crate::check::path;
use crate::policy::Mode;
use crate::{Denial, Rule};

/// Primaries that delete, write, or prompt a person.
const REFUSED: &[&str] = words!("-execdir -ok -okdir -delete -fls -fprint -fprint0 -fprintf");

/// Primaries that take a value.
const WITH_VALUE: &[&str] = words!(
    "-amin -anewer -atime -cmin -cnewer -context -ctime -D -files0-from -fstype -gid -group",
    "-ilname -iname -inum -ipath -iregex -iwholename -links -lname -maxdepth -mindepth -mmin",
    "-mtime -name -newer -path -perm -printf -regex -regextype -samefile -size -type -uid -used",
    "-user -wholename -xtype",
);

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut at = 0;
    while let Some(arg) = call.args.get(at) {
        at += 1;
        let Some(text) = arg.is_static().then_some(arg.text.as_ref()) else {
            if !call.is_option_safe(arg) {
                return Err(call.deny_dynamic(arg));
            }
            continue;
        };
        if REFUSED.contains(&text) {
            return Err(call
                .deny_flag(Rule::R33, text, arg.span)
                .instead(match text {
                    "-delete" => "use git rm for tracked files, and leave others in place",
                    "-execdir" | "-ok" | "-okdir" => "use -exec",
                    _ => "redirect the output of find: find .. > FILE",
                }));
        }
        if text == "-exec" {
            at += exec(call, at)?;
        } else if WITH_VALUE.contains(&text) || text.starts_with("-newer") {
            if let Some(value) = call.args.get(at).filter(|value| call.may_shift(value)) {
                return Err(call.deny_dynamic(value));
            }
            at += 1;
        } else if arg.is_pattern() && text.starts_with(['-', '[']) {
            // File names may be primaries.
            return Err(call.deny_dynamic(arg));
        }
    }
    Ok(())
}

/// Judges the command after the `-exec` before argument `from`, and returns the number of its
/// arguments.
fn exec<'s>(call: &Call<'_, '_, 's>, from: usize) -> Result<usize, Denial> {
    let (before, args) = call.args.split_at(from);
    let ends = |(at, arg): (usize, &Arg<'_>)| {
        let after_braces = at
            .checked_sub(1)
            .is_some_and(|before| args[before].text.contains("{}"));
        arg.is(";") || (arg.is("+") && after_braces)
    };
    let is_plus = |pair: &&[Arg<'_>]| {
        let text = pair[0].text.as_ref();
        pair[1].is("+") && text.contains("{}") && text != "{}"
    };
    if let Some(pair) = args.windows(2).find(is_plus) {
        // Not every find accepts this `+` as the end.
        let reason = "-exec .. + needs {} as an argument of its own";
        return Err(Denial::by(Rule::R33, pair[0].span, reason).instead("end it with \\;"));
    }
    let Some(end) = args.iter().enumerate().position(ends) else {
        return Err(call
            .deny(Rule::R33, "the command of -exec has no end")
            .instead("end it with \\; or +"));
    };
    // Unknown text may be the end, and then primaries follow.
    let unknown = args[..end]
        .iter()
        .position(|arg| !arg.is_static() || arg.may_match(";") || arg.may_match("+"));
    let behind = unknown.map_or(&args[..0], |at| &args[at + 1..end]);
    if let Some(arg) = behind
        .iter()
        .find(|arg| REFUSED.contains(&arg.text.as_ref()) || arg.text.starts_with("-exec"))
    {
        return Err(call.deny_flag(Rule::R33, &arg.text, arg.span));
    }
    if let Some(arg) = behind.iter().find(|arg| !call.is_option_safe(arg)) {
        return Err(call.deny_dynamic(arg));
    }
    let is_below = |arg: &&Arg<'_>| arg.is_static() && !arg.tilde && path::stays_below(&arg.text);
    let mut places = call
        .args
        .iter()
        .take_while(|arg| !arg.text.starts_with(['-', '(', '!']));
    let is_root = |arg: &Arg<'_>| arg.text.split('/').all(|name| matches!(name, "" | "."));
    let may_find_note = call.mode() == Mode::Sync
        && !find_results::exclude_note(before)
        && call
            .args
            .first()
            .is_none_or(|first| is_root(first) || first.text.starts_with('-'));
    let found: Cow<'_, str> = match places.find(|arg| !is_below(arg)) {
        _ if call.has("-files0-from") => "".into(),
        _ if may_find_note => "/tmp/".into(),
        None => "./".into(),
        Some(place) if place.is_static() && !place.tilde => {
            format!("{}/", place.text.trim_end_matches('/')).into()
        }
        // Possibly outside of the project.
        Some(_) => "/tmp/".into(),
    };
    let is_sed = args[..end].first().is_some_and(|name| name.is("sed"));
    let files = if is_sed {
        find_results::patterns(call, &before[..from - 1])
    } else {
        None
    };
    let inner: Vec<Arg<'s>> = args[..end]
        .iter()
        .flat_map(|arg| match &files {
            Some(files) if arg.is("{}") => files.clone(),
            // With `+` there may be several names.
            _ if arg.is("{}") && args[end].is("+") => vec![with_found_name(arg, &found); 2],
            _ => vec![with_found_name(arg, &found)],
        })
        .collect();
    if inner.is_empty() {
        return Err(call
            .deny(Rule::R33, "-exec has no command")
            .instead("name the command"));
    }
    if inner.iter().any(|arg| arg.is("cp")) {
        find_results::check_copied(before)?;
    }
    call.inner(&inner)?;
    Ok(end + 1)
}

/// Returns an argument in which `{}` is replaced by a name that find inserts and that starts with
/// `found`.
///
/// Such a name starts with the starting point of the search, so it is not an option unless the
/// starting point comes from a file.
fn with_found_name<'s>(arg: &Arg<'s>, found: &str) -> Arg<'s> {
    let Some(at) = arg.text.find("{}") else {
        return arg.clone();
    };
    let before = &arg.text[..at];
    let text = if before.is_empty() { found } else { before };
    Arg {
        text: text.to_owned().into(),
        unknown: Some(Unknown {
            part: None,
            quoted: true,
        }),
        parts: Cow::Borrowed(&[]),
        ..arg.clone()
    }
}
