//! `ninja`: builds of the project.

use super::{check_build_here, check_target};
use crate::Rule;
use crate::check::builtins::enter_path;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{
    Item, StrictOptions, Value, check_build_folder, check_source, nothing_special,
};

/// Missing is `-t browse`, which starts a server.
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: "use ninja -C build TARGET",
    groups: &[
        (
            words!("-h -n -v --help --quiet --verbose --version"),
            Value::Nothing,
        ),
        (words!("-d: -f: -k: -l: -w:"), Value::Text),
        (words!("-C:"), Value::By(check_build_folder)),
        (words!("-j:"), Value::Count),
        (
            words!("-t:"),
            Value::OneOf(words!(
                "clean cleandead commands compdb deps graph inputs list missingdeps query rules targets",
            )),
        ),
    ],
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    // The last folder counts, and the file is relative to it.
    let mut here = None;
    let mut files = Vec::new();
    for item in OPTIONS.read(call, call.args, nothing_special)? {
        match item {
            Item::Option {
                name: "-C",
                value: Some(folder),
            } => here = Some(enter_path(call, &folder)?),
            Item::Option {
                name: "-f",
                value: Some(file),
            } => files.push(file),
            Item::Option { .. } => {}
            Item::Operand(target) => check_target(call, target)?,
        }
    }
    if here.is_none() {
        check_build_here(call)?;
    }
    let inside = Call {
        directories: here.as_ref().unwrap_or(call.directories),
        ..*call
    };
    files
        .iter()
        .try_for_each(|file| check_source(&inside, Rule::R101, file))
}
