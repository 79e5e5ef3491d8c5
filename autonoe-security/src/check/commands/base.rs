//! Commands that every project has, in both modes.

use super::{date, find, free, git, pkill, ps, timeout};
use crate::check::call::{Call, Checked, Validator};
use crate::check::options::{self, Seen, Table, Takes};
use crate::check::write_target::{Root, escapes};
use crate::{Denial, Rule};

pub(super) const COMMANDS: &[(&str, Validator)] = &[
    ("ls", free),
    ("pwd", free),
    ("cat", free),
    ("head", free),
    ("tail", free),
    ("wc", free),
    ("find", find::check),
    ("grep", free),
    ("tree", tree),
    ("sort", sort),
    ("diff", free),
    ("date", date::check),
    ("printf", free),
    ("uniq", uniq),
    ("cut", free),
    ("tr", free),
    ("tac", free),
    ("jq", jq),
    ("git", git::check),
    ("which", free),
    ("ps", ps::check),
    ("lsof", free),
    ("echo", free),
    ("sleep", free),
    ("timeout", timeout::check),
    ("pkill", pkill::check),
    // The shell's own ones are judged elsewhere; these are the programs, by their path.
    ("true", free),
    ("false", free),
    ("test", free),
    ("[", free),
];

const SORT: Table = Table {
    short_values: "kotST",
    short_maybe: "",
    long: &[
        ("batch-size", Takes::Value),
        ("buffer-size", Takes::Value),
        ("check", Takes::Maybe),
        ("compress-program", Takes::Value),
        ("debug", Takes::Nothing),
        ("dictionary-order", Takes::Nothing),
        ("field-separator", Takes::Value),
        ("files0-from", Takes::Value),
        ("general-numeric-sort", Takes::Nothing),
        ("help", Takes::Nothing),
        ("human-numeric-sort", Takes::Nothing),
        ("ignore-case", Takes::Nothing),
        ("ignore-leading-blanks", Takes::Nothing),
        ("ignore-nonprinting", Takes::Nothing),
        ("key", Takes::Value),
        ("merge", Takes::Nothing),
        ("month-sort", Takes::Nothing),
        ("numeric-sort", Takes::Nothing),
        ("output", Takes::Value),
        ("parallel", Takes::Value),
        ("random-sort", Takes::Nothing),
        ("random-source", Takes::Value),
        ("reverse", Takes::Nothing),
        ("sort", Takes::Value),
        ("stable", Takes::Nothing),
        ("temporary-directory", Takes::Value),
        ("unique", Takes::Nothing),
        ("version", Takes::Nothing),
        ("version-sort", Takes::Nothing),
        ("zero-terminated", Takes::Nothing),
    ],
};

fn sort(call: &Call<'_, '_, '_>) -> Checked {
    for seen in options::read(call, &SORT)? {
        let Seen::Option { name, value, arg } = seen else {
            continue;
        };
        match (name.as_str(), value) {
            ("-o" | "--output", Some(target)) => call.write_target(&target, Root::Refused)?,
            ("-T" | "--temporary-directory", Some(folder))
                if !folder
                    .known()
                    .is_some_and(|folder| call.is_in_reach(folder)) =>
            {
                return Err(escapes(&folder, Rule::R34));
            }
            ("-T" | "--temporary-directory", Some(_)) => {}
            ("--compress-program" | "-o" | "-T" | "--output" | "--temporary-directory", _) => {
                return Err(call.deny_flag(Rule::R34, &name, arg.span));
            }
            _ => {}
        }
    }
    Ok(())
}

const TREE: Table = Table {
    short_values: "LPIHTo",
    short_maybe: "",
    long: &[
        ("charset", Takes::Value),
        ("filelimit", Takes::Value),
        ("filesfrom", Takes::Nothing),
        ("fromfile", Takes::Nothing),
        ("gitfile", Takes::Value),
        ("hintro", Takes::Value),
        ("houtro", Takes::Value),
        ("infofile", Takes::Value),
        ("sort", Takes::Maybe),
        ("timefmt", Takes::Value),
    ],
};

/// Programs of `jq` may print one variable, `env.NAME`, but not all of them.
fn jq(call: &Call<'_, '_, '_>) -> Checked {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let prints_all = |text: &str| {
        text.match_indices("env")
            .chain(text.match_indices("$ENV"))
            .any(|(at, found)| {
                let before = text[..at].chars().next_back();
                let after = text[at + found.len()..].chars().next();
                let is_part =
                    |c: Option<char>| c.is_some_and(|c| is_name(c) || "\".$:".contains(c));
                !is_part(before) && !is_part(after)
            })
    };
    let mut is_name_of_variable = false;
    for arg in call.args {
        let is_program = !std::mem::take(&mut is_name_of_variable);
        is_name_of_variable = arg.text.starts_with("--arg") || arg.text.ends_with("file");
        if is_program && prints_all(&arg.text) {
            return Err(
                Denial::by(Rule::R94, arg.span, "jq would print every variable")
                    .instead("print one variable with echo \"$NAME\""),
            );
        }
    }
    Ok(())
}

fn tree(call: &Call<'_, '_, '_>) -> Checked {
    // Its options take the next argument even in the middle of a cluster.
    let cluster = call.args.iter().find(|arg| {
        let text = arg.text.as_ref();
        text.starts_with('-')
            && !text.starts_with("--")
            && text.len() > 2
            && text.contains(['o', 'R'])
    });
    if let Some(arg) = cluster {
        return Err(call.deny_flag(Rule::R34, &arg.text, arg.span));
    }
    for seen in options::read(call, &TREE)? {
        let Seen::Option { name, value, arg } = seen else {
            continue;
        };
        match (name.as_str(), value) {
            ("-o", Some(target)) => call.write_target(&target, Root::Refused)?,
            ("-R" | "-o" | "--hintro" | "--houtro", _) => {
                return Err(call.deny_flag(Rule::R34, &name, arg.span));
            }
            _ => {}
        }
    }
    Ok(())
}

const UNIQ: Table = Table {
    short_values: "fsw",
    short_maybe: "",
    long: &[
        ("all-repeated", Takes::Maybe),
        ("check-chars", Takes::Value),
        ("count", Takes::Nothing),
        ("group", Takes::Maybe),
        ("help", Takes::Nothing),
        ("ignore-case", Takes::Nothing),
        ("repeated", Takes::Nothing),
        ("skip-chars", Takes::Value),
        ("skip-fields", Takes::Value),
        ("unique", Takes::Nothing),
        ("version", Takes::Nothing),
        ("zero-terminated", Takes::Nothing),
    ],
};

fn uniq(call: &Call<'_, '_, '_>) -> Checked {
    let mut operands = 0;
    for seen in options::read(call, &UNIQ)? {
        let Seen::Operand(operand) = seen else {
            continue;
        };
        operands += 1;
        // A pattern, or an unquoted value, may become several operands.
        let is_several = operand.is_pattern() || operand.unknown.is_some_and(|it| !it.quoted);
        match operands {
            1 if !is_several => {}
            1 => return Err(call.deny_dynamic(operand)),
            _ => call.write_target(operand, Root::Refused)?,
        }
    }
    Ok(())
}
