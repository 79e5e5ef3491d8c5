//! `javac`: compiles sources, and runs annotation processors of its class path.

use super::{class_path, launcher};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{Item, Listed, StrictOptions, Value, check_input};
use crate::check::write_target::escapes;

const OPTIONS: StrictOptions = StrictOptions {
    rule: Rule::R100,
    instead: "use javac -d FOLDER -cp FOLDER FILE.java, with options such as --release and -Xlint",
    groups: &[
        (
            words!(
                "-? -X -deprecation -g -g:lines -g:none -g:source -g:vars -help -nowarn -parameters",
                "-proc:full -proc:none -proc:only -implicit:class -implicit:none -verbose -version",
                "--enable-preview --help --help-extra --help-lint --version -Werror -Xlint -Xdoclint",
                "-Xdiags:compact -Xdiags:verbose -Xpkginfo:always -Xpkginfo:legacy",
                "-Xpkginfo:nonempty -Xprefer:newer -Xprefer:source",
            ),
            Value::Nothing,
        ),
        (
            words!(
                "-encoding= -source= --source= -target= --target= --release= -release= -Xmaxerrs=",
                "-Xmaxwarns= --add-exports= --add-modules= --add-reads= --limit-modules=",
                "--module-version= -processor= -m= --module=",
            ),
            Value::Text,
        ),
        (words!("-d= -s= -h= -Xstdout="), Value::Output),
    ],
};

/// Options whose value is a list of folders and archives.
const CLASS_PATHS: &[&str] = words!(
    "-cp -classpath --class-path -p --module-path -sourcepath --source-path --module-source-path",
    "-processorpath --processor-path --processor-module-path",
);

pub(super) fn check<'s>(call: &Call<'_, '_, 's>) -> Checked {
    let special = |arg: &Arg<'s>, next: Option<&Arg<'s>>| {
        let text = arg.text.as_ref();
        if text.starts_with('@') {
            return Err(launcher::argument_file(arg));
        }
        let name = text.split('=').next().unwrap_or_default();
        if CLASS_PATHS.contains(&name) {
            let rest = next.map_or(&[][..], std::slice::from_ref);
            let (value, used) = launcher::value_of(arg, name, rest);
            if let Some(value) = value {
                class_path::check(call, &value)?;
            }
            return Ok(if used == 1 {
                Listed::WithNext
            } else {
                Listed::Alone
            });
        }
        let is_switch = arg.is_static()
            && ["-Xlint:", "-Xdoclint:", "-A"]
                .iter()
                .any(|start| text.starts_with(start));
        if is_switch {
            check_processor_option(call, arg)?;
            return Ok(Listed::Alone);
        }
        Ok(Listed::No)
    };
    // The launcher takes these from every place, also instead of a value.
    if let Some(arg) = call.args.iter().find(|arg| arg.text.starts_with("-J")) {
        return Err(OPTIONS.deny(call, arg));
    }
    for item in OPTIONS.read(call, call.args, &special)? {
        let Item::Operand(file) = item else {
            continue;
        };
        check_input(call, Rule::R100, file)?;
        // Without -d, the classes are written beside the sources.
        let fixed = file.globs.first().map_or(file.text.len(), |at| *at);
        if !call.is_in_reach(&file.text[..fixed]) {
            return Err(escapes(file, Rule::R100));
        }
    }
    Ok(())
}

/// Checks `-ANAME=VALUE`, an option of an annotation processor: its value may be a file.
fn check_processor_option(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    let value = arg.text.split_once('=').map_or("", |(_, value)| value);
    let is_path = value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..");
    if is_path && !call.is_in_reach(value) {
        return Err(escapes(arg, Rule::R100));
    }
    Ok(())
}
