//! Working folders of a tool and the files that it runs, restricted to the project.

use super::not_verification;
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tool_options::targets::{is_target, working_folders};
use crate::check::write_target;

/// Returns whether a tool runs the files in its arguments.
fn runs_files(tool: &Tool<'_, '_, '_, '_>) -> bool {
    match tool.name {
        "node" => tool.has("--test"),
        "jest" | "vitest" | "mocha" | "ava" | "tap" | "playwright" | "deno" | "bun" | "pytest"
        | "python" | "python3" | "rspec" | "cucumber" | "minitest" | "rails" | "phpunit"
        | "pest" | "codeception" | "go" | "vite" | "next" | "nuxt" | "astro" => true,
        "ruby" => !tool.has("-c") && !tool.has("-wc"),
        _ => false,
    }
}

/// Checks that the tool works inside the project, on files of the project.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    for place in tool.values_of(working_folders(tool.name)) {
        let Some(place) = place else {
            return Err(not_verification(tool.call));
        };
        let is_inside = |place: &str| tool.call.is_in_project(place);
        if !place.known().is_some_and(is_inside) {
            return Err(write_target::escapes(&place, Rule::R64));
        }
    }
    if runs_files(tool) {
        runs_only_its_operands(tool)
    } else {
        Ok(())
    }
}

fn runs_only_its_operands(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    // Outputs are not run, nor is an address below the root of a server.
    let is_no_file = |option: &str| option == "--base" || is_target(tool.name, option);
    let mut before = "";
    let outside = tool.args.iter().find(|arg| {
        let is_exempt = is_no_file(std::mem::replace(&mut before, &arg.text));
        let is_option = arg.text.starts_with('-') && !arg.is("-");
        !is_exempt && !is_option && !may_run(tool, arg)
    });
    match outside {
        Some(file) => Err(write_target::escapes(file, Rule::R64)),
        None => Ok(()),
    }
}

/// Returns whether `file` is not a path, or a path inside the project.
fn may_run(tool: &Tool<'_, '_, '_, '_>, file: &Arg<'_>) -> bool {
    let is_address = |text: &str| {
        let scheme = text.split_once(':').map(|(scheme, _)| scheme);
        matches!(
            scheme,
            Some("http" | "https" | "data" | "blob" | "npm" | "jsr" | "file")
        )
    };
    // `-` is standard input.
    let is_foreign = match tool.name {
        "deno" | "node" | "bun" => is_address(&file.text),
        _ => file.text.starts_with("data:"),
    };
    if is_foreign || file.is("-") {
        return false;
    }
    // `@` precedes a file with arguments.
    let text = file.text.strip_prefix('@').unwrap_or(&file.text);
    let is_path = file.tilde || text.starts_with('/') || text.split('/').any(|name| name == "..");
    !file.is_static() || !is_path || (!file.tilde && tool.call.is_in_project(text))
}
