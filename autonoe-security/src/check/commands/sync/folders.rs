//! Where a tool works, and which code it runs: what lies in the project.

use super::tool::Tool;
use super::{not_verification, reports};
use crate::Rule;
use crate::check::arg::Arg;
use crate::check::call::Checked;
use crate::check::write_target;

/// Options whose value is the place to work in.
fn places(tool: &str) -> &'static [&'static str] {
    match tool {
        "npm" => &["--prefix", "-C"],
        "pnpm" => &["-C", "--dir", "--prefix"],
        "yarn" | "bun" => &["--cwd"],
        "uv" => &["--directory", "--project"],
        "poetry" => &["-C", "--directory", "-P", "--project"],
        "pdm" => &["-p", "--project"],
        "composer" => &["-d", "--working-dir"],
        "cargo" => &["-C", "--manifest-path"],
        "go" => &["-C"],
        _ => &[],
    }
}

/// Tells whether a tool runs the files that it is given.
fn runs_files(tool: &Tool<'_, '_, '_, '_>) -> bool {
    match tool.name {
        "node" => tool.has("--test"),
        "jest" | "vitest" | "mocha" | "ava" | "tap" | "playwright" | "deno" | "bun" | "pytest"
        | "python" | "python3" | "rspec" | "cucumber" | "minitest" | "rails" | "phpunit"
        | "pest" | "codeception" | "go" => true,
        "ruby" => !tool.has("-c") && !tool.has("-wc"),
        _ => false,
    }
}

/// Checks that the tool works inside of the project, on files of the project.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    for place in tool.values_of(places(tool.name)) {
        let Some(place) = place else {
            return Err(not_verification(tool.call));
        };
        let is_inside = |place: &str| tool.call.is_in_project(place);
        if !place.known().is_some_and(is_inside) {
            return Err(write_target::escapes(&place, Rule::R64));
        }
    }
    match runs_files(tool) {
        true => runs_only_what_is_inside(tool),
        false => Ok(()),
    }
}

/// Options whose value is written to, not run.
const OUTPUTS: &[&str] = &[
    "--basetemp",
    "--cacheDirectory",
    "--coverageDirectory",
    "--output",
];

fn runs_only_what_is_inside(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    let is_output =
        |option: &str| OUTPUTS.contains(&option) || reports::targets(tool.name).contains(&option);
    let mut before = "";
    let outside = tool.args.iter().find(|arg| {
        let is_given_out = is_output(std::mem::replace(&mut before, &arg.text));
        !is_given_out && !arg.text.starts_with('-') && !may_run(tool, arg)
    });
    match outside {
        Some(file) => Err(write_target::escapes(file, Rule::R64)),
        None => Ok(()),
    }
}

/// Tells whether `file` is no path, or one inside of the project.
fn may_run(tool: &Tool<'_, '_, '_, '_>, file: &Arg<'_>) -> bool {
    let is_path = file.text.starts_with('/') || file.text.split('/').any(|name| name == "..");
    !file.is_static() || !is_path || tool.call.is_in_project(&file.text)
}
