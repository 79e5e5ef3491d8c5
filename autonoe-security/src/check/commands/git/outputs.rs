//! Files that git options name as outputs.

use super::Git;
use super::parsed_args::Flag;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::write_target::{self, Root};
use crate::{Denial, Rule};

pub(super) fn check(git: &Git<'_, '_, '_, '_>) -> Checked {
    let targets = git.read.flags.iter().filter(|flag| names_file(git, flag));
    for target in targets.filter_map(|flag| flag.value.as_ref()) {
        writes_to(git, target)?;
    }
    if git.name == "format-patch" {
        let suffixes = git.read.flags.iter().filter(|flag| flag.may_be("suffix"));
        let mut values = suffixes.filter_map(|flag| flag.value.as_ref());
        values.try_for_each(stays_in_name)?;
    }
    // The result of a merge replaces the first file.
    let replaces = git.name == "merge-file" && !git.read.surely_has(Some('p'), "stdout");
    let bundles = git.name == "bundle" && git.read.first_may_be("create");
    let at = match (replaces, bundles) {
        (true, _) => 0,
        (_, true) => 1,
        _ => return Ok(()),
    };
    git.read
        .at(at)
        .try_for_each(|target| writes_to(git, target))
}

/// Returns whether the value of an option is an output file, or a folder for output files.
pub(super) fn names_file(git: &Git<'_, '_, '_, '_>, flag: &Flag<'_, '_>) -> bool {
    flag.may_be("output")
        || match git.name {
            "archive" => flag.is_letter('o'),
            "format-patch" => flag.is_letter('o') || flag.may_be("output-directory"),
            "apply" => flag.may_be("build-fake-ancestor"),
            "read-tree" => flag.may_be("index-output"),
            _ => false,
        }
}

/// Checks that the suffix of a file name does not lead to another folder.
fn stays_in_name(suffix: &Arg<'_>) -> Checked {
    match suffix.known() {
        Some(text) if !text.contains('/') => Ok(()),
        Some(_) => Err(write_target::escapes(suffix, Rule::R28)),
        None => {
            let reason = "the end of the file's name is unknown until it runs";
            Err(Denial::by(Rule::R27, suffix.span, reason).instead("write it literally"))
        }
    }
}

fn writes_to(git: &Git<'_, '_, '_, '_>, target: &Arg<'_>) -> Checked {
    let root = match git.name {
        "format-patch" => Root::Accepted,
        _ => Root::Refused,
    };
    write_target::check(git.call.context, git.here, target, root)
}
