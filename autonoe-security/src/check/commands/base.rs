//! Commands that every project has, in both modes.

use super::{Commands, date, find, free, git, pkill, ps, timeout};
use crate::check::call::{Call, Checked};
use crate::check::options::{self, Seen};
use crate::check::write_target::{Root, escapes};
use crate::option_table::OptionTable;
use crate::{Denial, Rule};

pub(super) const COMMANDS: Commands = &[
    (
        words!("ls pwd cat head tail wc grep diff printf cut tr tac which lsof echo sleep"),
        free,
    ),
    (words!("find"), find::check),
    (words!("tree"), tree),
    (words!("sort"), sort),
    (words!("date"), date::check),
    (words!("uniq"), uniq),
    (words!("jq"), jq),
    (words!("git"), git::check),
    (words!("ps"), ps::check),
    (words!("timeout"), timeout::check),
    (words!("pkill"), pkill::check),
    // The shell's own ones are judged elsewhere; these are the programs, by their path.
    (words!("true false test ["), free),
];

const SORT: OptionTable = options!(
    "k:o:t:S:T:",
    "batch-size= buffer-size= check? compress-program= debug dictionary-order field-separator=",
    "files0-from= general-numeric-sort help human-numeric-sort ignore-case ignore-leading-blanks",
    "ignore-nonprinting key= merge month-sort numeric-sort output= parallel= random-sort",
    "random-source= reverse sort= stable temporary-directory= unique version version-sort",
    "zero-terminated",
);

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

const TREE: OptionTable = options!(
    "L:P:I:H:T:o:",
    "charset= filelimit= filesfrom fromfile gitfile= hintro= houtro= infofile= sort? timefmt=",
);

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

const UNIQ: OptionTable = options!(
    "f:s:w:",
    "all-repeated? check-chars= count group? help ignore-case repeated skip-chars= skip-fields=",
    "unique version zero-terminated",
);

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
