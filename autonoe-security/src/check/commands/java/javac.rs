//! `javac`: compiles sources, and runs annotation processors of its class path.

use super::{class_path, launcher};
use crate::check::arg::Arg;
use crate::check::call::{Call, Checked};
use crate::check::commands::strict_options::{Item, StrictOptions, Value, check_input};
use crate::check::write_target::escapes;
use crate::{Denial, Rule};

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
        (
            words!(
                "-cp= -classpath= --class-path= -p= --module-path= -sourcepath= --source-path=",
                "--module-source-path= -processorpath= --processor-path= --processor-module-path=",
            ),
            Value::By(class_path::check),
        ),
        (
            words!("-Xlint: -Xdoclint: -A:"),
            Value::By(check_processor_option),
        ),
    ],
};

pub(super) fn check(call: &Call<'_, '_, '_>) -> Checked {
    // The launcher takes these from every place, also instead of a value.
    if let Some(arg) = call.args.iter().find(|arg| arg.text.starts_with("-J")) {
        return Err(OPTIONS.deny(call, arg));
    }
    for item in OPTIONS.read(call, call.args, refuse_argument_file)? {
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

fn refuse_argument_file(_: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Result<bool, Denial> {
    if arg.text.starts_with('@') {
        Err(launcher::argument_file(arg))
    } else {
        Ok(false)
    }
}

/// Checks `-ANAME=VALUE`, an option of an annotation processor: its value may be a file.
fn check_processor_option(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> Checked {
    if !arg.is_static() {
        return Err(call.deny_dynamic(arg));
    }
    let value = arg.text.split_once('=').map_or("", |(_, value)| value);
    let is_path = value.starts_with(['/', '~']) || value.split('/').any(|part| part == "..");
    if is_path && !call.is_in_reach(value) {
        return Err(escapes(arg, Rule::R100));
    }
    Ok(())
}
