//! Options and words that pass code on the command line instead of from the project.

use crate::Rule;
use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::call::Checked;
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tool_options::spelling::matches_option;

/// Returns the options of `tool` that run their value, or change the code that runs.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "ava" => words!("--node-arguments"),
        "codeception" => words!("-o --override"),
        "deno" => words!("--v8-flags --eval --ext"),
        "jest" => words!("--globals --haste"),
        "mocha" => words!("--eval --print"),
        "nox" => words!("--force-python --extra-python"),
        "pest" | "phpunit" => words!("--prepend --printer"),
        "phpcs" => words!("--config-set --config-delete --runtime-set"),
        "pylint" => words!("--init-hook"),
        "pytest" => words!("--pdbcls"),
        "rubocop" => words!("--start-server --restart-server --server --lsp --mcp"),
        "tap" => words!("--node-arg --before --after"),
        "tox" => words!("-x --override --force-dep"),
        "vitest" => words!("--execArgv --poolOptions"),
        _ => &[],
    }
}

/// Subcommands of tox that do not run the tests, or that write settings.
const OTHER_THAN_TESTS: &[&str] = words!("exec e devenv d quickstart q");

pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let refused = refused(tool.name);
    if !tool.values_of(refused).is_empty() {
        return Err(tool.call.deny_flag(Rule::R64, refused[0], tool.call.span));
    }
    match tool.name {
        "mocha" => node_options(tool),
        "phpunit" | "pest" | "phpcs" => php_settings(tool),
        "pytest" => adds_no_options(tool),
        "tox" => runs_tests(tool),
        _ => Ok(()),
    }
}

/// Checks that pytest settings do not add unchecked options.
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

/// Options of Node.js that mocha may pass on: none that loads or runs code.
fn node_options(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let values = tool.values_of(&["-n", "--node-option", "--node-options"]);
    let is_harmless = |value: &Arg<'_>| {
        let options = value.known().map(|text| text.split(','));
        options.is_some_and(|mut all| {
            all.all(|option| assignments::are_node_options(&format!("--{option}")))
        })
    };
    match values
        .into_iter()
        .flatten()
        .find(|value| !is_harmless(value))
    {
        Some(value) => Err(tool.call.deny_flag(Rule::R92, &value.text, value.span)),
        None => Ok(()),
    }
}

/// Settings of PHP that a command line may change.
const PHP_SETTINGS: &[&str] = words!(
    "assert.exception display_errors display_startup_errors error_reporting max_execution_time",
    "memory_limit pcov.enabled xdebug.mode zend.assertions",
);

/// Checks that `-d` changes no setting that loads code, such as `auto_prepend_file`.
fn php_settings(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let is_harmless = |value: &Arg<'_>| {
        let key = value.text.split('=').next().unwrap_or_default();
        PHP_SETTINGS.contains(&key.trim())
    };
    let values = tool.values_of(&["-d"]);
    match values
        .into_iter()
        .flatten()
        .find(|value| !is_harmless(value))
    {
        Some(value) => Err(tool.call.deny_flag(Rule::R92, &value.text, value.span)),
        None => Ok(()),
    }
}

fn runs_tests(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let mut before = "";
    for arg in tool.args.iter().take_while(|arg| !arg.is("--")) {
        let is_value = before == "-e" || matches_option("tox", before, "--env");
        if !is_value && OTHER_THAN_TESTS.contains(&arg.text.as_ref()) {
            return Err(tool.call.deny_flag(Rule::R64, &arg.text, arg.span));
        }
        before = arg.text.as_ref();
    }
    Ok(())
}
