//! `ninja`: builds of the project.

use super::{check_build_folder, check_build_here, check_target, is_count};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::builtins::enter_path;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{Item, Listed, StrictOptions, Value, check_source};

/// Missing is `-t browse`, which starts a server.
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: "use ninja -C build TARGET",
    groups: &[
        (
            words!("-h -n -v --help --quiet --verbose --version"),
            Value::Nothing,
        ),
        (words!("-d: -k: -l: -w:"), Value::Text),
        (
            words!("-t:"),
            Value::OneOf(words!(
                "clean cleandead commands compdb deps graph inputs list missingdeps query rules targets",
            )),
        ),
    ],
};

pub(super) fn check<'s>(call: &Call<'_, '_, 's>) -> Checked {
    // The last folder counts, and the file is relative to it.
    let folders = values(call, "-C");
    match folders.last() {
        Some(_) => folders
            .iter()
            .try_for_each(|folder| check_build_folder(call, folder))?,
        None => check_build_here(call)?,
    }
    for file in values(call, "-f") {
        let here = match folders.last() {
            Some(folder) => enter_path(call, folder)?,
            None => call.directories.clone(),
        };
        let inside = Call {
            directories: &here,
            ..*call
        };
        check_source(&inside, Rule::R101, &file)?;
    }
    let special = |arg: &Arg<'s>, next: Option<&Arg<'s>>| {
        let text = arg.text.as_ref();
        Ok(match (text, next) {
            ("-C" | "-f", Some(_)) => Listed::WithNext,
            ("-j", Some(count)) if is_count(count) => Listed::WithNext,
            ("-C" | "-f" | "-j", _) => Listed::No,
            _ if text.starts_with("-C") || text.starts_with("-f") => Listed::Alone,
            _ if text.starts_with("-j") && is_count(&arg.without_first(2)) => Listed::Alone,
            _ => Listed::No,
        })
    };
    for item in OPTIONS.read(call, call.args, &special)? {
        if let Item::Operand(target) = item {
            check_target(call, target)?;
        }
    }
    Ok(())
}

/// Returns the values of `option`, a letter whose value is the rest of the argument or the next one.
fn values<'s>(call: &Call<'_, '_, 's>, option: &str) -> Vec<Arg<'s>> {
    let mut values = Vec::new();
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        if arg.is(option) {
            values.extend(args.next().cloned());
        } else if arg.text.starts_with(option) {
            values.push(arg.without_first(option.len()));
        }
    }
    values
}
