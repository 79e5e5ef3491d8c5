//! `rm` and `mv`: only strictly inside the project.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::{path, symlinks};
use crate::option_table::OptionTable;
use crate::{Denial, Rule};

const RM: OptionTable = options!(
    "",
    "dir force help interactive? no-preserve-root one-file-system preserve-root? recursive verbose",
    "version",
);

pub(super) fn rm(call: &Call<'_, '_, '_>) -> Checked {
    dynamic_operands(call)?;
    let mut operands = Vec::new();
    for parsed in options::read(call, &RM)? {
        match parsed {
            ParsedArg::Operand(operand) => operands.push(operand),
            ParsedArg::Option { name, arg, .. } => match name.as_str() {
                "-r" | "-R" | "-f" | "-i" | "-I" | "-d" | "-v" | "--recursive" | "--force"
                | "--dir" | "--verbose" | "--interactive" | "--one-file-system"
                | "--preserve-root" => {}
                _ => return Err(call.deny_flag(Rule::R61, &name, arg.span)),
            },
        }
    }
    if operands.is_empty() {
        return Err(call
            .deny(Rule::R61, "rm has nothing to delete")
            .instead("name a file"));
    }
    operands
        .into_iter()
        .try_for_each(|operand| strictly_inside(call, operand, Root::Refused))
}

const MV: OptionTable = options!(
    "S:t:",
    "backup? context debug exchange force help interactive no-clobber no-copy no-target-directory",
    "strip-trailing-slashes suffix= target-directory= update? verbose version",
);

pub(super) fn mv(call: &Call<'_, '_, '_>) -> Checked {
    dynamic_operands(call)?;
    let mut into = None;
    let mut operands = Vec::new();
    for parsed in options::read(call, &MV)? {
        match parsed {
            ParsedArg::Operand(operand) => operands.push(operand),
            ParsedArg::Option { name, value, arg } => match (name.as_str(), value) {
                (
                    "-f"
                    | "-i"
                    | "-n"
                    | "-u"
                    | "-v"
                    | "-T"
                    | "--force"
                    | "--no-clobber"
                    | "--update"
                    | "--verbose"
                    | "--no-target-directory",
                    _,
                ) => {}
                ("-t" | "--target-directory", Some(folder)) if into.is_none() => {
                    into = Some(folder);
                }
                _ => return Err(call.deny_flag(Rule::R61, &name, arg.span)),
            },
        }
    }
    let (sources, destination) = match (&into, &operands[..]) {
        (Some(folder), sources @ [_, ..]) => (sources, folder),
        (None, [sources @ .., last]) if !sources.is_empty() => (sources, *last),
        _ => {
            let reason = "mv needs a source and a destination";
            return Err(call.deny(Rule::R61, reason).instead("name both"));
        }
    };
    for source in sources {
        strictly_inside(call, source, Root::Refused)?;
    }
    strictly_inside(call, destination, Root::Accepted)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Accepted,
    Refused,
}

/// Denies unknown operands.
fn dynamic_operands(call: &Call<'_, '_, '_>) -> Checked {
    match call.args.iter().find(|arg| !arg.is_static()) {
        Some(arg) => Err(not_known(call, arg)),
        None => Ok(()),
    }
}

fn not_known(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Denial {
    let reason = format!("an argument of {} is unknown until it runs", call.name);
    Denial::by(Rule::R62, arg.span, reason).instead("write the path literally")
}

fn strictly_inside(call: &Call<'_, '_, '_>, operand: &Arg<'_>, root: Root) -> Checked {
    // An assignment that was skipped because of an error leaves the variable empty.
    if let Some(text) = operand
        .without_variables
        .as_deref()
        .filter(|text| !text.is_empty())
    {
        let globs = text
            .match_indices(['*', '?', '['])
            .map(|(at, _)| at)
            .collect();
        let bare = Arg {
            text: text.to_owned().into(),
            globs,
            without_variables: None,
            ..operand.clone()
        };
        strictly_inside(call, &bare, root)?;
    }
    let text = operand.text.as_ref();
    let escapes = || {
        let reason = format!("Path '{text}' escapes project directory");
        Denial::by(Rule::R62, operand.span, reason).instead("name a file inside the project")
    };
    if operand.tilde {
        return Err(escapes());
    }
    if path::is_protected(path::below(text, call.policy().project_dir())) {
        let reason = format!("'{text}' is protected");
        return Err(Denial::by(Rule::R62, operand.span, reason).instead("leave it as it is"));
    }
    let fixed = match operand.globs.first() {
        None => text,
        Some(first) => {
            check_pattern(operand)?;
            let end = text[..*first].rfind('/').map_or(0, |slash| slash + 1);
            match &text[..end] {
                "" => ".",
                fixed => fixed,
            }
        }
    };
    let project = call.policy().project_dir();
    let may_be_root = root == Root::Accepted || operand.is_pattern();
    for place in call.directories.resolve(fixed).ok_or_else(escapes)? {
        if !path::is_within(&place, project) || (place == project && !may_be_root) {
            return Err(escapes());
        }
        if path::is_protected(&place[project.len()..]) {
            let reason = format!("'{text}' is protected");
            return Err(Denial::by(Rule::R62, operand.span, reason).instead("leave it as it is"));
        }
        symlinks::check(call.context, &place, operand.span)?;
    }
    Ok(())
}

/// Checks that a pattern cannot match hidden files, or files in other folders.
fn check_pattern(operand: &Arg<'_>) -> Checked {
    let mut start = 0;
    let mut matched = false;
    for component in operand.text.split('/') {
        let end = start + component.len();
        let has_glob = operand.globs.iter().any(|at| (start..end).contains(at));
        let is_wild = (has_glob && component.starts_with('.')) || (matched && component == "..");
        if is_wild {
            let reason = format!("the pattern '{}' may match unexpected files", operand.text);
            return Err(Denial::by(Rule::R62, operand.span, reason).instead("name the files"));
        }
        matched |= has_glob;
        start = end + 1;
    }
    Ok(())
}
