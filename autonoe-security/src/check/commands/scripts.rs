//! Scripts and programs of the project, started by path.

use crate::check::arg::Arg;
use crate::check::call::{Call, Checked, Owner};
use crate::check::options::ParsedArg;
use crate::check::{path, symlinks};
use crate::policy::Mode;
use crate::syntax::Span;
use crate::{Denial, Layer, Rule};

use super::option_allow_list::OptionAllowList;
use super::strict_options::check_source;
use super::tools::is_on_hard_list;
use super::version_probe;

/// Folders into which package managers install third-party programs.
const INSTALLED: &[&str] = words!("node_modules .venv venv vendor");

/// Checks that `written` names a script of the project that may run.
pub(in crate::check) fn check(call: &Call<'_, '_, '_>, written: &str, span: Span) -> Checked {
    runs_code_of_project(call, "scripts of the project")?;
    let name = path::file_name(written);
    let deny = |reason: String, instead: &'static str| {
        Err(Denial::by(Rule::R88, span, reason).instead(instead))
    };
    let is_called_like_a_program = name != "test"
        && (call
            .policy()
            .known(name)
            .and_then(|known| known.program)
            .is_some_and(|program| {
                program.owner != Owner::VersionOnly && !version_probe::NAMES.contains(&name)
            })
            || is_on_hard_list(name));
    if matches!(name, "" | "." | "..") || is_called_like_a_program {
        return deny(
            format!("'{written}' has the name of a program outside the project"),
            "run the program by its name, or give the script another name",
        );
    }
    if written.contains('=') || leaves_on_the_way(call, written) {
        return deny(
            format!("'{written}' is not a plain path of the project"),
            "write the path from the project root, without ..",
        );
    }
    let Some(places) = call.directories.resolve(written) else {
        return deny(
            format!("Path '{written}' escapes project directory"),
            "run a script inside the project",
        );
    };
    let project = call.policy().project_dir();
    for place in &places {
        let below = place
            .strip_prefix(project)
            .filter(|_| path::is_within(place, project));
        let Some(below) = below else {
            return deny(
                format!("Path '{written}' escapes project directory"),
                "copy the script into the project, and run it there",
            );
        };
        if path::is_protected(below) || path::is_protected(path::below(written, project)) {
            return deny(
                format!("'{written}' is in a protected folder"),
                "run a script in another folder of the project",
            );
        }
        if below.split('/').any(|name| INSTALLED.contains(&name)) {
            return deny(
                format!("'{written}' is installed, and not a script of the project"),
                "run it by its name, or through npx, uv run or composer",
            );
        }
        symlinks::check_in_project(call.context, place, span)?;
    }
    Ok(())
}

/// Options of `bats` that choose tests and print results.
const BATS: OptionAllowList = OptionAllowList {
    options: options!(
        "cf:F:j:prtTx",
        "count filter= filter-tags= formatter= jobs= print-output-on-failure pretty recursive",
        "show-output-of-passing-tests tap timing trace verbose-run version help",
    ),
    refused: &[],
    rule: Rule::R88,
    instead: "run bats test/*.bats, or bats -r test",
};

/// Checks `bats`, which runs scripts of the project as tests.
pub(super) fn bats(call: &Call<'_, '_, '_>) -> Checked {
    runs_code_of_project(call, "tests of the project")?;
    for parsed in BATS.read(call)? {
        let arg = match &parsed {
            ParsedArg::Option { name, value, arg } => {
                let format = value.as_ref().and_then(|value| value.known());
                if matches!(name.as_str(), "-F" | "--formatter")
                    && !format.is_some_and(|it| matches!(it, "tap" | "tap13" | "pretty" | "junit"))
                {
                    return Err(call.deny_flag(Rule::R88, name, arg.span));
                }
                continue;
            }
            ParsedArg::Operand(arg) => arg,
        };
        if !is_file_of_project(call, arg) {
            let reason = format!("'{}' is no test of the project", arg.text);
            return Err(Denial::by(Rule::R88, arg.span, reason)
                .instead("name files of the project, such as test/*.bats"));
        }
    }
    Ok(())
}

/// Returns whether an argument names or matches only files of the project, none of them installed.
fn is_file_of_project(call: &Call<'_, '_, '_>, arg: &Arg<'_>) -> bool {
    let path = &arg.text[..arg.globs.first().copied().unwrap_or(arg.text.len())];
    let is_hidden = |name: &str| name.len() > 1 && name.starts_with('.');
    arg.is_static()
        && !arg.tilde
        && call.is_in_project(path)
        && !path::below(&arg.text, call.policy().project_dir())
            .split('/')
            .any(|name| is_hidden(name) || INSTALLED.contains(&name))
}

/// Options of `shellcheck` that choose checks and print results, or read other files.
const SHELLCHECK: OptionAllowList = OptionAllowList {
    options: options!(
        "aVxC:P:W:e:f:i:o:s:S:",
        "check-sourced color= enable= exclude= external-sources format= help include= list-optional",
        "norc rcfile= severity= shell= source-path= version wiki-link-count=",
    ),
    refused: &[],
    rule: Rule::R83,
    instead: "use shellcheck scripts/*.sh, with -S, -e or -f",
};

/// Checks `shellcheck`. A `.shellcheckrc` of the project can make it read the files that a script
/// sources, so it needs a profile that can run code.
///
/// Arguments that `xargs` appends may be any option: no option of shellcheck writes a file or runs a
/// program, and the files that it may read are files that `xargs cat` may print.
pub(super) fn shellcheck(call: &Call<'_, '_, '_>) -> Checked {
    runs_code_of_project(call, "scripts of the project")?;
    call.check_patterns()?;
    let is_appended = |arg: &Arg<'_>| {
        let is_input = arg.unknown.is_some_and(|unknown| unknown.part.is_none());
        is_input && arg.text.is_empty() && arg.parts.is_empty()
    };
    let written = call.args.iter().rposition(|arg| !is_appended(arg));
    let written = Call {
        args: &call.args[..written.map_or(0, |last| last + 1)],
        ..*call
    };
    let items = SHELLCHECK.read(&written)?;
    // The scripts name the files that these read, so they must be scripts that may run.
    let mut follows = written.args.len() < call.args.len();
    let mut reading = None;
    for item in &items {
        match item {
            ParsedArg::Option { name, value, arg } if READING.contains(&name.as_str()) => {
                reading = Some((name, arg));
                if let Some(value) = value.as_ref().filter(|value| !value.is("SCRIPTDIR")) {
                    check_source(call, Rule::R83, value)?;
                }
            }
            ParsedArg::Option { .. } => {}
            ParsedArg::Operand(arg) => follows |= !is_file_of_project(call, arg),
        }
    }
    match reading {
        Some((name, arg)) if follows => Err(call
            .deny_flag(Rule::R83, name, arg.span)
            .instead("use shellcheck -x with scripts of the project only")),
        _ => Ok(()),
    }
}

/// Options with which shellcheck reads the files that a script sources, or settings.
const READING: &[&str] =
    words!("-P -a -x --check-sourced --external-sources --rcfile --source-path");

/// Returns whether a path goes up after a name, which may be a symlink, or leaves the project in
/// between.
fn leaves_on_the_way(call: &Call<'_, '_, '_>, written: &str) -> bool {
    let names: Vec<&str> = written.split('/').collect();
    let up = names.iter().rposition(|name| *name == "..");
    up.is_some_and(|last| {
        let above = &names[..=last];
        let descends = above.iter().any(|name| !matches!(*name, "." | ".."));
        descends || !call.is_in_project(&above.join("/"))
    })
}

/// Checks that code of the project may run: in run mode, with a language that runs such code
/// anyway.
pub(super) fn runs_code_of_project(call: &Call<'_, '_, '_>, construct: &str) -> Checked {
    if call.mode() == Mode::Sync {
        let mut denial = call
            .deny(Rule::R88, format!("{construct} do not run in sync mode"))
            .instead("run the tests, type checks, linters or builds of the project directly");
        denial.layer = Layer::Mode;
        return Err(denial);
    }
    if !call.policy().runs_code() {
        let mut denial = call
            .deny(
                Rule::R88,
                format!("{construct} do not run without an active profile"),
            )
            .instead("run the commands of the script one by one");
        denial.layer = Layer::Profile;
        return Err(denial);
    }
    Ok(())
}
