//! Options and words that hold code of the command line, not of the project.

use super::spelling::means;
use super::tool::Tool;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;

/// Returns the options of `tool` that run their value, or change what is run.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "codeception" => &["-o", "--override"],
        "phpcs" => &["--config-set", "--config-delete"],
        "pylint" => &["--init-hook"],
        "tox" => &["-x", "--override", "--force-dep"],
        _ => &[],
    }
}

/// Subcommands of tox that run something else than the tests, or write settings.
const OTHER_THAN_TESTS: &[&str] = &["exec", "e", "devenv", "d", "quickstart", "q"];

pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let refused = refused(tool.name);
    if !tool.values_of(refused).is_empty() {
        return Err(tool.call.deny_flag(Rule::R64, refused[0], tool.call.span));
    }
    match tool.name {
        "pytest" => adds_no_options(tool),
        "tox" => runs_tests(tool),
        _ => Ok(()),
    }
}

/// Checks that the settings of pytest are not used to add options that nobody has looked at.
fn adds_no_options(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let is_added = |value: &Arg<'_>| {
        let added = value.text.trim_start().strip_prefix("addopts");
        added.is_some_and(|rest| !value.is_static() || !rest.trim_matches([' ', '=']).is_empty())
    };
    let values = tool.values_of(&["-o", "--override-ini"]);
    match values.into_iter().flatten().find(is_added) {
        Some(value) => Err(tool.call.deny_flag(Rule::R64, &value.text, value.span)),
        None => Ok(()),
    }
}

fn runs_tests(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let mut before = "";
    for arg in tool.args.iter().take_while(|arg| !arg.is("--")) {
        let is_value = before == "-e" || means("tox", before, "--env");
        if !is_value && OTHER_THAN_TESTS.contains(&arg.text.as_ref()) {
            return Err(tool.call.deny_flag(Rule::R64, &arg.text, arg.span));
        }
        before = arg.text.as_ref();
    }
    Ok(())
}
