//! `ctest`: tests of a configured build.

use super::{check_build_folder, check_build_here, is_count};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{Item, Listed, StrictOptions, Value};

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
    ],
};

pub(super) fn check<'s>(call: &Call<'_, '_, 's>) -> Checked {
    let special = |arg: &Arg<'s>, next: Option<&Arg<'s>>| {
        let text = arg.text.as_ref();
        let folder = text.strip_prefix("--test-dir").map(|rest| (rest, next));
        match folder {
            Some(("", Some(folder))) if arg.is_static() => {
                check_build_folder(call, folder)?;
                return Ok(Listed::WithNext);
            }
            Some((rest, _)) if rest.starts_with('=') => {
                check_build_folder(call, &arg.without_first("--test-dir=".len()))?;
                return Ok(Listed::Alone);
            }
            _ => {}
        }
        if arg.is("-j") || arg.is("--parallel") {
            return Ok(match next {
                Some(next) if is_count(next) => Listed::WithNext,
                _ => Listed::Alone,
            });
        }
        let jobs = ["-j", "--parallel="]
            .iter()
            .find(|it| text.starts_with(**it));
        Ok(match jobs {
            Some(start) if is_count(&arg.without_first(start.len())) => Listed::Alone,
            _ => Listed::No,
        })
    };
    let names_folder = |arg: &Arg<'_>| arg.text.starts_with("--test-dir");
    if !call.args.iter().any(names_folder) {
        check_build_here(call)?;
    }
    for item in OPTIONS.read(call, call.args, &special)? {
        if let Item::Operand(operand) = item {
            return Err(OPTIONS.deny(call, operand));
        }
    }
    Ok(())
}
