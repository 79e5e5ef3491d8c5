//! `meson`: configuring, building and testing.

use super::{check_build_here, check_target};
use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{
    Item, StrictOptions, Value, check_build_folder, check_source, check_text, is_library,
    nothing_special,
};
use crate::check::text::has_only;
use crate::check::write_target::{Root, escapes};
use crate::check::{build_output, path};
use crate::{Denial, Rule};

const INSTEAD: &str = "use meson setup build, meson compile -C build, or meson test -C build";

const SETUP: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: INSTEAD,
    groups: &[
        (
            words!(
                "-h --clearcache --debug --errorlogs --fatal-meson-warnings --help --reconfigure",
                "--strip --version --werror --wipe",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "--auto-features= --backend= --buildtype= --default-library= --force-fallback-for=",
                "--layout= --optimization= --unity= --warnlevel= --wrap-mode=",
            ),
            Value::Text,
        ),
        (words!("--cross-file= --native-file="), Value::Source),
        (
            words!("--cmake-prefix-path= --pkg-config-path="),
            Value::Library,
        ),
        (words!("--prefix="), Value::Output),
        (words!("-D:"), Value::By(check_option)),
    ],
};

const COMPILE: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: INSTEAD,
    groups: &[
        (words!("-h -v --clean --help --verbose"), Value::Nothing),
        (words!("-j: -l: --jobs= --load-average="), Value::Text),
        (words!("-C:"), Value::By(check_build_folder)),
    ],
};

/// Missing are debuggers and wrappers, which are programs.
const TEST: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: INSTEAD,
    groups: &[
        (
            words!(
                "-h -q -v --benchmark --help --list --no-rebuild --no-stdsplit --print-errorlogs",
                "--quiet --verbose",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-j: -t: --max-lines= --maxfail= --no-suite= --num-processes= --repeat= --setup=",
                "--suite= --test-args= --timeout-multiplier=",
            ),
            Value::Text,
        ),
        (words!("-C:"), Value::By(check_build_folder)),
    ],
};

const INTROSPECT: StrictOptions = StrictOptions {
    rule: Rule::R101,
    instead: INSTEAD,
    groups: &[(
        words!(
            "-a -f -h -i --all --ast --benchmarks --buildoptions --buildsystem-files --dependencies",
            "--force-object-output --help --indent --installed --machines --projectinfo",
            "--scan-dependencies --targets --tests",
        ),
        Value::Nothing,
    )],
};

pub(super) fn check<'s>(call: &Call<'_, '_, 's>) -> Checked {
    let Some((first, rest)) = call.args.split_first() else {
        return Ok(());
    };
    match first.known() {
        Some("setup") => setup(call, rest),
        Some("configure") => configure(call, rest),
        Some("compile") => in_folder(call, &COMPILE, rest),
        Some("test") => in_folder(call, &TEST, rest),
        Some("introspect") => {
            for item in INTROSPECT.read(call, rest, nothing_special)? {
                if let Item::Operand(folder) = item {
                    check_source(call, Rule::R101, folder)?;
                }
            }
            Ok(())
        }
        Some("--version" | "--help" | "-h") if rest.is_empty() => Ok(()),
        _ => {
            let reason = format!("meson {} is not allowed", first.text);
            Err(Denial::by(Rule::R101, first.span, reason).instead(INSTEAD))
        }
    }
}

fn setup<'s>(call: &Call<'_, '_, 's>, args: &[Arg<'s>]) -> Checked {
    let mut wipes = false;
    let mut folders = Vec::new();
    for item in SETUP.read(call, args, nothing_special)? {
        match item {
            Item::Operand(folder) => folders.push(folder),
            Item::Option { name, value } => {
                wipes |= name == "--wipe";
                if let Some(value) = value.filter(|it| name != "-D" && it.known().is_none()) {
                    return Err(call.deny_dynamic(&value));
                }
            }
        }
    }
    if folders.len() > 2 {
        return Err(call
            .deny(Rule::R101, "meson setup takes two folders at most")
            .instead(INSTEAD));
    }
    check_build_here(call)?;
    for folder in &folders {
        // Either may be the folder of the sources.
        check_source(call, Rule::R101, folder)?;
        call.check_write_target(folder, Root::Accepted)?;
    }
    let is_made = |place: &str| build_output::is_bundle_folder(call.policy(), place);
    let emptied = folders.first().and_then(|folder| folder.known());
    let is_build = emptied.is_some_and(|folder| call.directories.all_locations(folder, is_made));
    if wipes && !is_build {
        return Err(call
            .deny(Rule::R101, "the folder would be emptied")
            .instead("use a folder such as build, or meson setup --reconfigure"));
    }
    Ok(())
}

fn configure<'s>(call: &Call<'_, '_, 's>, args: &[Arg<'s>]) -> Checked {
    check_build_here(call)?;
    for item in SETUP.read(call, args, nothing_special)? {
        if let Item::Operand(folder) = item {
            check_build_folder(call, folder)?;
        }
    }
    Ok(())
}

/// Checks a command that works in the folder of `-C`.
fn in_folder<'s>(call: &Call<'_, '_, 's>, options: &StrictOptions, args: &[Arg<'s>]) -> Checked {
    let mut has_folder = false;
    for item in options.read(call, args, nothing_special)? {
        match item {
            Item::Option { name, .. } => has_folder |= name == "-C",
            Item::Operand(target) => check_target(call, target)?,
        }
    }
    if has_folder {
        Ok(())
    } else {
        check_build_here(call)
    }
}

/// Checks an option of the project or of meson: `NAME=VALUE`.
fn check_option(call: &Call<'_, '_, '_>, definition: &Arg<'_>) -> Checked {
    check_text(call, definition)?;
    let deny = || {
        let reason = format!(
            "the option '{}' may change what runs, or where",
            definition.text
        );
        Err(Denial::by(Rule::R101, definition.span, reason)
            .instead("leave it out, or set it in meson.build"))
    };
    let Some((name, value)) = definition.known().and_then(|text| text.split_once('=')) else {
        return deny();
    };
    let own = name.rsplit(':').next().unwrap_or(name);
    if own.ends_with("_args") || own.ends_with("_link_args") {
        let value = value.replace(',', " ");
        return if assignments::are_compiler_options(&value) {
            Ok(())
        } else {
            deny()
        };
    }
    if own == "prefix" {
        let folder = Arg::plain(value.to_owned(), definition.span);
        return call.check_write_target(&folder, Root::Accepted);
    }
    let is_program = ["launcher", "exe", "wrapper", "command", "program"]
        .iter()
        .any(|word| own.split(['_', '-', '.']).any(|part| part == *word));
    let leads_out = value.split([',', ':', '[', ']']).any(|piece| {
        let is_path = piece.starts_with('/') || piece.split('/').any(|part| part == "..");
        path::is_protected(piece) || (is_path && !is_library(call, piece))
    });
    if leads_out {
        return Err(escapes(definition, Rule::R101));
    }
    if is_program || !has_only(value, "_.+-,:=/@[]") || value.starts_with('-') {
        return deny();
    }
    Ok(())
}
