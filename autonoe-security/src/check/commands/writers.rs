//! Commands that write files of the project: `tee`, `touch`, `rmdir`.

use super::chmod;
use super::option_allow_list::OptionAllowList;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::ParsedArg;
use crate::check::path;
use crate::check::resolve::arguments;
use crate::check::write_target::{Root, check_session_pattern, protected};
use crate::syntax::Part;

/// Checks a file that a command changes or creates, by the rules of redirections.
///
/// A pattern never matches hidden files, and the directory before it decides. A `for` variable
/// represents the words of its list.
pub(super) fn check_target(call: &Call<'_, '_, '_>, target: &Arg<'_>) -> Checked {
    match loop_words(call, target) {
        Some(words) => words.iter().try_for_each(|word| check_word(call, word)),
        None => check_word(call, target),
    }
}

/// Returns the possible values of a quoted `for` variable, if nothing else sets it.
fn loop_words<'s>(call: &Call<'_, '_, 's>, target: &Arg<'_>) -> Option<Vec<Arg<'s>>> {
    let [Part::DoubleQuoted(inner)] = &target.parts[..] else {
        return None;
    };
    let [part] = &inner[..] else {
        return None;
    };
    let scope = call.context.scope;
    let mut args = Vec::new();
    for word in scope.loop_words(part, target.span.start())? {
        arguments(word, scope, &mut args).ok()?;
    }
    // A word that contains a variable itself may be anything.
    let is_known = !args.is_empty() && args.iter().all(|arg| arg.is_static() && !arg.tilde);
    is_known.then_some(args)
}

fn check_word(call: &Call<'_, '_, '_>, target: &Arg<'_>) -> Checked {
    let text = target.text.as_ref();
    let first = target.globs.first().filter(|_| target.is_static());
    let Some(first) = first.filter(|_| !chmod::is_wild(target)) else {
        return call.check_write_target(target, Root::Refused);
    };
    if path::is_protected(path::below(text, call.policy().project_dir())) {
        return Err(protected(target, &format!("'{text}'")));
    }
    check_session_pattern(call, target)?;
    let folder = match text[..*first].rfind('/') {
        None => ".",
        Some(slash) => &text[..=slash],
    };
    let folder = Arg {
        text: folder.to_owned().into(),
        globs: Vec::new(),
        ..target.clone()
    };
    call.check_write_target(&folder, Root::Accepted)
}

const TEE: OptionAllowList = OptionAllowList {
    options: options!("aip", "append help ignore-interrupts output-error? version"),
    refused: &[],
    rule: Rule::R84,
    instead: "use tee FILE, or tee -a FILE",
};

pub(super) fn tee(call: &Call<'_, '_, '_>) -> Checked {
    let is_file = |arg: &&Arg<'_>| !is_process(arg);
    let files: Vec<Arg<'_>> = call.args.iter().filter(is_file).cloned().collect();
    let call = Call {
        args: &files,
        ..*call
    };
    refuse_unknown_targets(&call)?;
    for parsed in TEE.read(&call)? {
        if let ParsedArg::Operand(file) = parsed {
            call.check_write_target(file, Root::Refused)?;
        }
    }
    Ok(())
}

/// Returns whether the operand is `>(..)`, whose commands are judged separately.
fn is_process(file: &Arg<'_>) -> bool {
    matches!(&file.parts[..], [Part::ProcessSubstitution(_)])
}

/// Denies a completely unknown target as such, before it is taken for an option.
fn refuse_unknown_targets(call: &Call<'_, '_, '_>) -> Checked {
    let is_unknown = |arg: &&Arg<'_>| !arg.is_static() && arg.text.is_empty();
    match call.args.iter().find(is_unknown) {
        Some(arg) => call.check_write_target(arg, Root::Refused),
        None => Ok(()),
    }
}

const TOUCH: OptionAllowList = OptionAllowList {
    options: options!(
        "acfhmd:r:t:A:",
        "date= help no-create no-dereference reference= time= version",
    ),
    refused: &[],
    rule: Rule::R84,
    instead: "use touch FILE",
};

pub(super) fn touch(call: &Call<'_, '_, '_>) -> Checked {
    let parsed = TOUCH.read(call)?;
    for parsed in parsed {
        if let ParsedArg::Operand(file) = parsed {
            check_target(call, file)?;
        }
    }
    Ok(())
}

const RMDIR: OptionAllowList = OptionAllowList {
    options: options!(
        "pv",
        "help ignore-fail-on-non-empty parents verbose version",
    ),
    refused: &[],
    rule: Rule::R84,
    instead: "use rmdir DIR",
};

/// Checks `rmdir`, which only removes empty directories.
pub(super) fn rmdir(call: &Call<'_, '_, '_>) -> Checked {
    refuse_unknown_targets(call)?;
    let parsed = RMDIR.read(call)?;
    let takes_parents = parsed.iter().any(
        |parsed| matches!(parsed, ParsedArg::Option { name, .. } if name == "-p" || name == "--parents"),
    );
    for parsed in parsed {
        let ParsedArg::Operand(folder) = parsed else {
            continue;
        };
        check_target(call, folder)?;
        if takes_parents && !path::stays_below(&folder.text) {
            return Err(protected(folder, &format!("a parent of '{}'", folder.text)));
        }
    }
    Ok(())
}
