//! Options that name a program, load code from the network, or publish.

use super::own_args::own_args;
use super::spelling::matches_option;
use super::{Tool, option_name};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::assignments;
use crate::check::builtins::is_identifier;
use crate::check::call::Checked;
use crate::check::write_target::escapes;
use crate::policy::Mode;

/// Returns the options of `tool` that start a program, serve code to others or publish.
fn refused(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" | "npx" => words!(
            "--browser --editor --git --node-gyp --onload-script --python --script-shell --shell",
            "--viewer",
        ),
        "pnpm" => words!("--script-shell --node-options --use-node-version --global-pnpmfile"),
        "yarn" => words!("--script-shell --use-yarnrc"),
        "pytest" => words!("--pastebin"),
        "cucumber" => words!("--publish --drb"),
        "rspec" => words!("--drb -X"),
        "tsup" => words!("--onSuccess"),
        "vitest" => words!("--typecheck.checker"),
        "gunicorn" => words!("--spew"),
        _ => &[],
    }
}

/// Options that load code, for all interpreters.
const LOADING: &[&str] = words!(
    "-r --require --import --loader --experimental-loader --preload --import-map --config -c -f",
    "--plugin -n --node-option",
);

/// Checks that no option starts a program, and that no code comes from the network.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let own = own_args(tool.name, tool.args);
    for arg in own {
        let text = arg.text.as_ref();
        if !text.starts_with('-') {
            continue;
        }
        let name = option_name(text);
        let is_setting = tool.name == "pnpm" && name.starts_with("--config.");
        let is_off = tool.name.starts_with("np") && text == "--browser=false";
        let is_refused = refused(tool.name)
            .iter()
            .any(|option| matches_option(tool.name, name, option));
        if (is_refused || is_setting) && !is_off {
            return Err(tool.call.deny_flag(Rule::R92, name, arg.span));
        }
    }
    if let ("rake", Some(task)) = (tool.name, tool.operands().find(|arg| is_release(arg))) {
        return Err(tool
            .call
            .deny(Rule::R51, format!("'rake {}' publishes", task.text))
            .at(task.span.range())
            .instead("leave it to the user"));
    }
    sets_no_variable(tool)?;
    loads_no_address(tool, own)
}

/// Checks operands `NAME=value`, which rake and similar tools add to the environment.
fn sets_no_variable(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    if !matches!(tool.name, "rake" | "rails" | "cucumber") {
        return Ok(());
    }
    for arg in tool.operands() {
        let Some((name, _)) = arg
            .text
            .split_once('=')
            .filter(|(name, _)| is_identifier(name))
        else {
            continue;
        };
        if !matches!(name, "TEST" | "SPEC") {
            assignments::check_argument(tool.call, arg, name)?;
            continue;
        }
        // The files to run.
        let files = arg.without_first(name.len() + 1);
        let is_inside = |files: &str| match tool.call.mode() {
            Mode::Run => tool.call.is_in_reach(files),
            Mode::Sync => tool.call.is_in_project(files),
        };
        if !files.is_static() || !is_inside(&files.text) {
            return Err(escapes(&files, Rule::R92));
        }
    }
    Ok(())
}

/// Returns whether a task of rake releases a gem.
fn is_release(task: &Arg<'_>) -> bool {
    let name = task.text.split(['[', ':']).next().unwrap_or_default();
    name == "release"
}

/// Checks that code is not loaded from a URL.
fn loads_no_address(tool: &Tool<'_, '_, '_, '_>, own: &[Arg<'_>]) -> Checked {
    let loads = words!("node ts-node tsx deno bun mocha goreleaser eslint vitest jest")
        .contains(&tool.name);
    if !loads {
        return Ok(());
    }
    let mut before = "";
    for arg in tool.args.iter().take(own.len() + 1) {
        let text = arg.text.as_ref();
        let (name, value) = match text.split_once('=') {
            Some((name, value)) if text.starts_with('-') => (name, value),
            _ => (before, text),
        };
        let is_address_of_page = matches!(before, "--location" | "--reload");
        let is_program = tool.name == "deno" && !text.starts_with('-') && !is_address_of_page;
        let is_loaded = is_program || LOADING.contains(&name);
        if is_loaded && value.split('=').any(is_address) {
            return Err(tool
                .call
                .deny(Rule::R92, format!("'{text}' is code from the network"))
                .at(arg.span.range())
                .instead("install it as a dependency of the project"));
        }
        before = text;
    }
    Ok(())
}

fn is_address(text: &str) -> bool {
    ["http://", "https://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
}
