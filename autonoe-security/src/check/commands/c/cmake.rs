//! `cmake`: configuring, building and running scripts of the project.

use super::variables::check_variable;
use super::{check_build_here, check_target};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{
    Item, StrictOptions, Value, check_build_folder, check_source, is_count, nothing_special,
};
use crate::check::text::is_digits;
use crate::check::write_target::Root;
use crate::{Denial, Rule};

/// Options that configure a build. Missing are `--install`, `--open`, debuggers, and manuals that
/// write a file.
const CONFIGURE: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: "use cmake -S . -B build, cmake --build build, or cmake --preset NAME",
    groups: &[
        (
            words!(
                "-L -LA -LAH -LH -LR -LRA -N -Wdeprecated -Wdev -Werror=deprecated -Werror=dev",
                "-Wno-deprecated -Wno-dev -Wno-error=deprecated -Wno-error=dev --check-system-vars",
                "--compile-no-warning-as-error --debug-find --debug-output --debug-trycompile --fresh",
                "--help --link-no-warning-as-error --list-presets --log-context",
                "--no-warn-unused-cli --trace --trace-expand --version --warn-uninitialized",
                "--warn-unused-vars -h -version",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-G: --debug-find-pkg= --debug-find-var= --list-presets? --log-level= --loglevel=",
                "--preset= --profiling-format= --trace-format= --trace-source= -U:",
            ),
            Value::Text,
        ),
        (words!("-C: -H: -S: --toolchain="), Value::Source),
        (words!("-D:"), Value::By(check_variable)),
        (
            words!("-B: --graphviz= --install-prefix= --profiling-output= --trace-redirect=",),
            Value::Output,
        ),
    ],
};

/// Options of `cmake --build`.
const BUILD: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: "use cmake --build FOLDER --target NAME --parallel 4",
    groups: &[
        (
            words!("-v --clean-first --list-presets --use-stderr --verbose"),
            Value::Nothing,
        ),
        (
            words!("--config= --preset= --resolve-package-references="),
            Value::Text,
        ),
    ],
};

/// Commands of `cmake -E` that print, compare or wait.
const READERS: &[&str] = words!(
    "capabilities cat compare_files echo echo_append false md5sum sha1sum sha224sum sha256sum",
    "sha384sum sha512sum sleep true",
);

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    let first = call.args.first().and_then(|arg| arg.known());
    let rest = call.args.get(1..).unwrap_or_default();
    match first {
        Some("--build") => build(call, rest),
        Some("-E") => command(call, rest),
        Some("--workflow") => workflow(call, rest),
        _ => configure(call),
    }
}

fn configure(call: &Call<'_, '_, '_>) -> Checked {
    // The arguments after a script are for the script.
    let script = call.args.iter().position(|arg| arg.is("-P"));
    let own = &call.args[..script.unwrap_or(call.args.len())];
    let only_asks = |arg: &Arg<'_>| {
        let text = arg.text.as_ref();
        matches!(text, "--version" | "-version" | "--help" | "-h")
    };
    // Without a folder, the current directory is configured.
    let mut has_source = script.is_some() || own.iter().all(only_asks);
    for item in CONFIGURE.read(call, own, nothing_special)? {
        match item {
            Item::Operand(folder) => {
                // A source folder, or a build of it.
                check_build_folder(call, folder)?;
                has_source = true;
            }
            Item::Option { name, value } => {
                has_source |= matches!(name, "-S" | "-H");
                let value = value.filter(|_| matches!(name, "-B" | "--install-prefix"));
                if let Some(folder) = value.filter(|folder| folder.known().is_none()) {
                    return Err(call.deny_dynamic(&folder));
                }
            }
        }
    }
    match script {
        Some(at) => match call.args.get(at + 1) {
            Some(file) => check_source(call, Rule::R101, file),
            None => Ok(()),
        },
        None if has_source => Ok(()),
        None => check_build_here(call),
    }
}

/// Checks `cmake --build FOLDER OPTIONS -- OPTIONS OF THE BUILD TOOL`.
fn build<'s>(call: &Call<'_, '_, 's>, args: &[Arg<'s>]) -> Checked {
    let native = args.iter().position(|arg| arg.is("--"));
    let (own, native) = match native {
        Some(at) => (&args[..at], &args[at + 1..]),
        None => (args, &args[..0]),
    };
    let mut own = own;
    let has_folder = own.first().is_some_and(|arg| !arg.text.starts_with('-'));
    if let [folder, rest @ ..] = own
        && has_folder
    {
        check_build_folder(call, folder)?;
        own = rest;
    } else if !own.iter().any(|arg| arg.text.starts_with("--preset")) {
        return Err(call
            .deny(Rule::R101, "cmake --build needs a folder")
            .instead("name the folder first: cmake --build build"));
    } else {
        check_build_here(call)?;
    }
    // Several targets may follow the option.
    let mut in_targets = false;
    let mut at = 0;
    while let Some(arg) = own.get(at) {
        at += 1;
        let text = arg.text.as_ref();
        if arg.is("-t") || arg.is("--target") {
            in_targets = true;
        } else if let Some(start) = ["--target=", "-t"].iter().find(|it| text.starts_with(**it)) {
            check_target(call, &arg.without_first(start.len()))?;
            in_targets = true;
        } else if !text.starts_with('-') && in_targets {
            check_target(call, arg)?;
        } else if let Some(start) = ["-j", "--parallel="]
            .iter()
            .find(|it| text.starts_with(**it))
            && !arg.is("-j")
        {
            if !is_count(&arg.without_first(start.len())) {
                return Err(BUILD.deny(call, arg));
            }
            in_targets = false;
        } else if arg.is("-j") || arg.is("--parallel") {
            at += usize::from(own.get(at).is_some_and(is_count));
            in_targets = false;
        } else if text.starts_with('-') {
            in_targets = false;
            let (_, used) = BUILD.option(call, arg, own.get(at), nothing_special)?;
            at += used;
        } else {
            return Err(BUILD.deny(call, arg));
        }
    }
    native.iter().try_for_each(|arg| check_native(call, arg))
}

/// Checks an option that `cmake --build` passes to make or ninja.
fn check_native(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    const FLAGS: &[&str] = words!(
        "-B -i -j -k -n -s -v --always-make --ignore-errors --keep-going --no-print-directory --quiet",
        "--silent --verbose VERBOSE=1 V=1",
    );
    let is_limit = |text: &str| {
        let number = ["-j", "-k", "-l"]
            .iter()
            .find_map(|start| text.strip_prefix(start));
        number.is_some_and(is_digits)
    };
    let is_listed = match arg.known() {
        Some(text) => FLAGS.contains(&text) || is_limit(text) || is_digits(text),
        None => arg.text == "-j" && is_count(&arg.without_first(2)),
    };
    if is_listed {
        return Ok(());
    }
    if arg
        .known()
        .is_some_and(|text| !text.starts_with('-') && !text.contains('='))
    {
        return check_target(call, arg);
    }
    Err(BUILD.deny(call, arg))
}

/// Checks `cmake -E COMMAND`.
fn command(call: &Call<'_, '_, '_>, args: &[Arg<'_>]) -> Checked {
    let Some((name, rest)) = args.split_first() else {
        return Ok(());
    };
    match name.known() {
        Some(name) if READERS.contains(&name) => Ok(()),
        Some("make_directory" | "touch") => rest
            .iter()
            .try_for_each(|file| call.check_write_target(file, Root::Refused)),
        _ => {
            let reason = format!("cmake -E {} is not allowed", name.text);
            Err(Denial::by(Rule::R101, name.span, reason)
                .instead("use the command itself, such as cp or mkdir"))
        }
    }
}

fn workflow<'s>(call: &Call<'_, '_, 's>, args: &[Arg<'s>]) -> Checked {
    const WORKFLOW: StrictOptions = StrictOptions {
        rule: Rule::R101,
        instead: "use cmake --workflow --preset NAME",
        groups: &[
            (words!("--fresh --list-presets"), Value::Nothing),
            (words!("--preset="), Value::Text),
        ],
    };
    check_build_here(call)?;
    for item in WORKFLOW.read(call, args, nothing_special)? {
        if let Item::Operand(operand) = item {
            return Err(WORKFLOW.deny(call, operand));
        }
    }
    Ok(())
}
