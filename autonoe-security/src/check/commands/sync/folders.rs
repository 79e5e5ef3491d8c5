//! Where a tool works, and which code it runs: what lies in the project.

use super::reports;
use super::tool::Tool;
use crate::check::arg::Arg;

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

/// Tells whether the tool works inside of the project, on files of the project.
pub(super) fn stay_inside(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let is_inside = |place: &Arg<'_>| {
        place
            .known()
            .is_some_and(|place| tool.call.is_in_project(place))
    };
    let works_inside = tool
        .values_of(places(tool.name))
        .iter()
        .all(|place| place.as_ref().is_some_and(is_inside));
    works_inside && (!runs_files(tool) || runs_only_what_is_inside(tool))
}

/// Options whose value is written to, not run.
const OUTPUTS: &[&str] = &[
    "--basetemp",
    "--cacheDirectory",
    "--coverageDirectory",
    "--output",
];

fn runs_only_what_is_inside(tool: &Tool<'_, '_, '_, '_>) -> bool {
    let is_output =
        |option: &str| OUTPUTS.contains(&option) || reports::targets(tool.name).contains(&option);
    let mut before = "";
    tool.args.iter().all(|arg| {
        let is_given_out = is_output(std::mem::replace(&mut before, &arg.text));
        is_given_out || arg.text.starts_with('-') || may_run(tool, arg)
    })
}

/// Tells whether `file` is no path, or one inside of the project.
fn may_run(tool: &Tool<'_, '_, '_, '_>, file: &Arg<'_>) -> bool {
    let is_path = file.text.starts_with('/') || file.text.split('/').any(|name| name == "..");
    !file.is_static() || !is_path || tool.call.is_in_project(&file.text)
}
