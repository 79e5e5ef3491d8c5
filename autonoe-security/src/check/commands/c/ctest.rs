//! `ctest`: tests of a configured build.

use super::check_build_here;
use crate::Rule;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{
    Item, StrictOptions, Value, check_build_folder, nothing_special,
};

/// Missing are dashboards (`-D`, `-M`, `-S`), which are published, and `--build-and-test`, which runs
/// other programs.
const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: "use ctest --test-dir build --output-on-failure -j 4",
    groups: &[
        (
            words!(
                "-F -N -Q -U -V -VV -h --debug --extra-verbose --help --list-presets",
                "--no-label-summary --no-subproject-summary --output-on-failure --print-labels",
                "--progress --quiet --rerun-failed --schedule-random --show-only --show-only?",
                "--stop-on-failure --union --verbose --version",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-C: -E: -FA: -FC: -FS: -I: -L: -LE: -R: --build-config= --exclude-regex=",
                "--fixture-exclude-any= --fixture-exclude-cleanup= --fixture-exclude-setup=",
                "--label-exclude= --label-regex= --max-width= --no-tests= --preset= --repeat=",
                "--repeat-until-fail= --stop-time= --test-load= --test-output-size-failed=",
                "--test-output-size-passed= --test-output-truncation= --tests-information=",
                "--tests-regex= --timeout= --interactive-debug-mode=",
            ),
            Value::Text,
        ),
        (
            words!("-T: --test-action="),
            Value::OneOf(words!(
                "build configure coverage memcheck start test Build Configure Coverage MemCheck",
                "Start Test",
            )),
        ),
        (
            words!("--exclude-from-file= --resource-spec-file= --tests-from-file="),
            Value::Source,
        ),
        (words!("-O: --output-junit= --output-log="), Value::Output),
        (words!("--test-dir="), Value::By(check_build_folder)),
        (words!("-j: --parallel="), Value::Count),
    ],
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let mut has_folder = false;
    for item in OPTIONS.read(call, call.args, nothing_special)? {
        match item {
            Item::Option { name, .. } => has_folder |= name == "--test-dir",
            Item::Operand(operand) => return Err(OPTIONS.deny(call, operand)),
        }
    }
    if has_folder {
        Ok(())
    } else {
        check_build_here(call)
    }
}
