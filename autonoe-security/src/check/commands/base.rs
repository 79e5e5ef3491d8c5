//! Commands that every project may use, in both modes.

use super::{Commands, date, find, free, git, jq, pkill, ps, timeout};
use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::options::{self, ParsedArg};
use crate::check::write_target::{Root, escapes};
use crate::option_table::OptionTable;

pub(super) const COMMANDS: Commands = &[
    (FREE, free),
    (words!("find"), find::check),
    (words!("tree"), tree),
    (words!("sort"), sort),
    (words!("date"), date::check),
    (words!("uniq"), uniq),
    (words!("jq"), jq::check),
    (words!("git"), git::check),
    (words!("ps"), ps::check),
    (words!("timeout"), timeout::check),
    (words!("pkill"), pkill::check),
];

/// Commands without an option or operand that writes, runs a program or connects. `true`, `false`,
/// `test` and `[` are the programs, called by path; the builtins are judged elsewhere.
pub(super) const FREE: &[&str] = words!(
    "ls pwd cat head tail wc grep diff printf cut tr tac which lsof echo sleep true false test [",
);

const SORT: OptionTable = options!(
    "k:o:t:S:T:",
    "batch-size= buffer-size= check? compress-program= debug dictionary-order field-separator=",
    "files0-from= general-numeric-sort help human-numeric-sort ignore-case ignore-leading-blanks",
    "ignore-nonprinting key= merge month-sort numeric-sort output= parallel= random-sort",
    "random-source= reverse sort= stable temporary-directory= unique version version-sort",
    "zero-terminated",
);

fn sort(call: &Call<'_, '_, '_>) -> Checked {
    for parsed in options::read(call, &SORT)? {
        let ParsedArg::Option { name, value, arg } = parsed else {
            continue;
        };
        match (name.as_str(), value) {
            ("-o" | "--output", Some(target)) => call.check_write_target(&target, Root::Refused)?,
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
    for parsed in options::read(call, &TREE)? {
        let ParsedArg::Option { name, value, arg } = parsed else {
            continue;
        };
        match (name.as_str(), value) {
            ("-o", Some(target)) => call.check_write_target(&target, Root::Refused)?,
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
    for parsed in options::read(call, &UNIQ)? {
        let ParsedArg::Operand(operand) = parsed else {
            continue;
        };
        operands += 1;
        // A pattern, or an unquoted value, may become several operands.
        let is_several = operand.is_pattern() || operand.unknown.is_some_and(|it| !it.quoted);
        match operands {
            1 if !is_several => {}
            1 => return Err(call.deny_dynamic(operand)),
            _ => call.check_write_target(operand, Root::Refused)?,
        }
    }
    Ok(())
}
