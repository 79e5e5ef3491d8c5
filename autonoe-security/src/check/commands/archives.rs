//! `tar`, `unzip` and `zip`: listing, printing and packing. Unpacking into the project is denied,
//! because the archive's members name the files and the command text does not show them.

use super::Commands;
use super::option_allow_list::OptionAllowList;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::write_target::{Root, escapes};
use crate::check::{pipes, plain_values, temporary};
use crate::option_table::OptionArity;
use crate::{Denial, Rule};

pub(super) const COMMANDS: Commands = &[
    (words!("tar"), tar),
    (words!("unzip"), unzip),
    (words!("zip"), zip),
];

/// Allowed options of `tar`. Others may run a program, connect, or write and delete files that are
/// not named.
const TAR: OptionAllowList = OptionAllowList {
    options: options!(
        "acjJOtvxzf:C:",
        "auto-compress bzip2 create directory= exclude= exclude-vcs extract file= get gzip help",
        "list strip-components= to-command= to-stdout verbose version wildcards xz",
    ),
    refused: words!("--to-command"),
    rule: Rule::R97,
    instead: "use tar -tf ARCHIVE, tar -xOf ARCHIVE MEMBER, or tar -czf ARCHIVE FILES",
};

/// The action of `tar`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    List,
    Extract,
    Create,
}

fn tar(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let Some(first) = call.args.first() else {
        return deny_tar(call, "tar has no action");
    };
    let mut args = with_dashes(first, call.args).unwrap_or_else(|| call.args.to_vec());
    name_one_match(call, &mut args);
    let dashed = Call {
        args: &args,
        ..*call
    };
    let parsed = options::read(&dashed, &TAR.options)?;
    TAR.check(&dashed, &parsed)?;
    let (mut actions, mut archives, mut folders) = (Vec::new(), Vec::new(), Vec::new());
    let (mut to_stdout, mut only_prints) = (false, false);
    for parsed in &parsed {
        let ParsedArg::Option { name, value, .. } = parsed else {
            continue;
        };
        match name.as_str() {
            "-t" | "--list" => actions.push(Action::List),
            "-x" | "--extract" | "--get" => actions.push(Action::Extract),
            "-c" | "--create" => actions.push(Action::Create),
            "-O" | "--to-stdout" => to_stdout = true,
            "--help" | "--version" => only_prints = true,
            "-f" | "--file" => archives.extend(value.clone()),
            "-C" | "--directory" => folders.extend(value.clone()),
            _ => {}
        }
    }
    if only_prints {
        return Ok(());
    }
    if actions == [Action::List]
        && archives.is_empty()
        && pipes::reads_pipe(call.context.scope.script(), call.span)
    {
        return Ok(());
    }
    let ([action], [archive]) = (&actions[..], &archives[..]) else {
        return deny_tar(call, "tar needs one action and one archive");
    };
    // A colon may name a host, to which tar connects by running a program.
    let plain = || plain_values::paths(call.context.scope, archive);
    let is_local = match archive.known() {
        Some(path) => !path.contains(':'),
        None => plain().is_some_and(|paths| paths.iter().all(|path| !path.contains(':'))),
    };
    if !is_local {
        let reason = "the archive is not known to be a file of this machine";
        return Err(Denial::by(Rule::R97, archive.span, reason)
            .instead("write the path of the archive literally, without a colon"));
    }
    match action {
        Action::List => Ok(()),
        Action::Extract if to_stdout => Ok(()),
        Action::Extract => Err(deny_extraction(call, "tar -xOf ARCHIVE MEMBER > FILE")),
        Action::Create => {
            if !archive.is("-") {
                call.check_write_target(archive, Root::Refused)?;
            }
            check_folder(call, &folders, &parsed)
        }
    }
}

fn deny_tar(call: &Call<'_, '_, '_>, reason: &'static str) -> Checked {
    Err(call.deny(Rule::R97, reason).instead(TAR.instead))
}

fn deny_extraction(call: &Call<'_, '_, '_>, print: &str) -> Denial {
    let reason = format!("{} would write the files that the archive names", call.name);
    call.deny(Rule::R97, reason)
        .instead(format!("print one member into a file: {print}"))
}

/// Returns the arguments with dashes, if the first one is a bundle of letters as in `tar czf`.
///
/// The values of such a bundle follow it in the order of its letters.
fn with_dashes<'s>(first: &Arg<'s>, args: &[Arg<'s>]) -> Option<Vec<Arg<'s>>> {
    let letters = first.known().filter(|text| !text.starts_with('-'))?;
    let mut rest = args[1..].iter();
    let mut dashed = Vec::with_capacity(args.len() + letters.len());
    for letter in letters.chars() {
        dashed.push(Arg::plain(format!("-{letter}"), first.span));
        if TAR.options.letter(letter) == Some(OptionArity::Value) {
            dashed.extend(rest.next().cloned());
        }
    }
    dashed.extend(rest.cloned());
    Some(dashed)
}

/// Replaces a pattern for the archive to read, such as `dist/*.tgz`, by one of its matches.
///
/// Each match starts with a literal directory, so it is neither an option nor a host. Further
/// matches are names of members. The same holds below the output of `mktemp`.
fn name_one_match(call: &Call<'_, '_, '_>, args: &mut [Arg<'_>]) {
    let is_short = |arg: &Arg<'_>| arg.text.starts_with('-') && !arg.text.starts_with("--");
    let is_below_temporary = |arg: &Arg<'_>| {
        let below = temporary::path_below(call.context.scope, arg);
        below.is_some_and(|below| !below.contains(':'))
    };
    let writes = |arg: &Arg<'_>| {
        let text = arg.text.as_ref();
        (arg.unknown.is_some() && !is_below_temporary(arg))
            || text.starts_with("--")
            || (is_short(arg) && text.contains('c'))
    };
    if args.iter().any(writes) {
        return;
    }
    for at in 1..args.len() {
        let is_value = is_short(&args[at - 1]) && args[at - 1].text.ends_with('f');
        let archive = &mut args[at];
        let wild = archive.text.find(['*', '?', '[']);
        let literal = wild.map_or("", |at| &archive.text[..at]);
        let has_directory =
            literal.contains('/') && !literal.starts_with('-') && !literal.contains(':');
        let is_pattern = archive.is_static() && has_directory && !archive.tilde;
        if is_value && (is_pattern || is_below_temporary(archive)) {
            *archive = Arg::plain("./archive", archive.span);
        }
    }
}

/// Checks the directory that packed files are relative to.
fn check_folder(
    call: &Call<'_, '_, '_>,
    folders: &[Arg<'_>],
    parsed: &[ParsedArg<'_, '_>],
) -> Checked {
    let folder = match folders {
        [] => return Ok(()),
        [folder] => folder,
        _ => return deny_tar(call, "tar changes the directory twice"),
    };
    if !folder.known().is_some_and(|path| call.is_in_reach(path)) {
        return Err(escapes(folder, Rule::R97));
    }
    for parsed in parsed {
        if let ParsedArg::Operand(file) = parsed
            && !(file.is_static() && !file.tilde && is_below(&file.text))
        {
            return Err(escapes(file, Rule::R97));
        }
    }
    Ok(())
}

/// Returns whether a relative path does not go up.
fn is_below(path: &str) -> bool {
    !path.starts_with('/') && path.split('/').all(|name| name != "..")
}

/// Allowed options of `unzip`. `-d` and all others that unpack are missing. A second dash would
/// negate a letter.
const UNZIP: OptionAllowList = OptionAllowList {
    options: options!("clpqtv"),
    refused: &[],
    rule: Rule::R97,
    instead: "use unzip -l ARCHIVE, or unzip -p ARCHIVE MEMBER > FILE",
};

fn unzip(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let mut only_prints = false;
    // Unpacking is denied with its own reason, whichever options are used.
    let prints = |arg: &Arg<'_>| {
        let letters = arg.text.strip_prefix('-');
        letters.is_some_and(|letters| letters.contains(['c', 'l', 'p', 't', 'v']))
    };
    if !call.args.iter().any(prints) {
        return Err(deny_extraction(call, "unzip -p ARCHIVE MEMBER > FILE"));
    }
    for parsed in UNZIP.read(call)? {
        if let ParsedArg::Option { name, .. } = parsed {
            only_prints |= name != "-q";
        }
    }
    if only_prints {
        Ok(())
    } else {
        Err(deny_extraction(call, "unzip -p ARCHIVE MEMBER > FILE"))
    }
}

/// Letters of options that choose which files are packed and how. `-T` runs a program, `-m`
/// deletes.
const ZIP_FLAGS: &str = "0123456789jqrvXy";

fn zip(call: &Call<'_, '_, '_>) -> Checked {
    call.check_patterns()?;
    let mut archive = None;
    let mut are_patterns = false;
    for arg in call.args {
        let is_option = arg.text.starts_with('-');
        if arg.is("-x") || arg.is("-i") {
            are_patterns = true;
        } else if is_option {
            let letters = arg.known().and_then(|text| text.strip_prefix('-'));
            let is_fine = letters
                .is_some_and(|it| !it.is_empty() && it.chars().all(|c| ZIP_FLAGS.contains(c)));
            if !is_fine {
                return Err(call
                    .deny_flag(Rule::R97, &arg.text, arg.span)
                    .instead("use zip -r ARCHIVE.zip FILES"));
            }
        } else if !call.is_option_safe(arg) {
            return Err(call.deny_dynamic(arg));
        } else if archive.is_none() && !are_patterns {
            archive = Some(arg);
        }
    }
    let archive = archive.filter(|arg| arg.known().is_some_and(|path| path.ends_with(".zip")));
    match archive {
        Some(archive) => call.check_write_target(archive, Root::Refused),
        None => Err(call
            .deny(Rule::R97, "the archive that zip writes is unknown")
            .instead("use zip -r ARCHIVE.zip FILES")),
    }
}
