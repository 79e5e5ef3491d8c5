//! Report files that a tool's options name.

use crate::check::arg::Arg;
use crate::check::build_output;
use crate::check::call::Checked;
use crate::check::commands::tool_options::Tool;
use crate::check::commands::tool_options::targets::{listings, targets};
use crate::check::write_target::Root;

/// Checks that all outputs in options are writable locations.
///
/// Tools write their output into the project even without an option. An option may name such a
/// location, but not a source file.
pub(super) fn check(tool: &Tool<'_, '_, '_, '_>) -> Checked {
    for option in targets(tool.name) {
        // The rules deny this one.
        let is_refused = tool.name == "eslint" && matches!(*option, "-o" | "--output-file");
        for target in tool.values_of(&[option]).into_iter().flatten() {
            if is_refused {
                tool.call.check_write_target(&target, Root::Refused)?;
            } else {
                check_output(tool, &target)?;
            }
        }
    }
    for listing in listings(tool.name) {
        for value in tool.values_of(listing.options).into_iter().flatten() {
            for place in listing.outputs(&value) {
                check_output(tool, &place)?;
            }
        }
    }
    match prints_into_file(tool) {
        Some(file) => check_output(tool, file),
        None => Ok(()),
    }
}

/// Returns whether the outputs of a tool are recordings of its own run and copies of its report. A
/// check needs neither of them.
fn records_itself(tool: &Tool<'_, '_, '_, '_>) -> bool {
    match tool.name {
        "gofmt" | "gofumpt" | "goimports" | "golangci-lint" | "golint" | "staticcheck" => true,
        "go" => !matches!(tool.first(), Some("build" | "test")),
        _ => false,
    }
}

fn check_output(tool: &Tool<'_, '_, '_, '_>, target: &Arg<'_>) -> Checked {
    match target.known() {
        Some("-" | "stdout" | "stderr") => Ok(()),
        Some(path) if build_output::is_report(path) && !records_itself(tool) => {
            tool.call.check_output(target)
        }
        _ => tool.call.check_write_target(target, Root::Refused),
    }
}

/// Returns the file after `--print-config KIND` of rustfmt.
fn prints_into_file<'t, 's>(tool: &Tool<'t, '_, '_, 's>) -> Option<&'t Arg<'s>> {
    if !matches!(tool.name, "rustfmt" | "cargo-fmt" | "cargo") {
        return None;
    }
    let is_option = |arg: &Arg<'_>| arg.text.split('=').next() == Some("--print-config");
    let at = tool.args.iter().position(is_option)?;
    let is_kind = |arg: &Arg<'_>| {
        arg.known()
            .is_some_and(|kind| matches!(kind, "default" | "minimal" | "current"))
    };
    let mut operands = tool.args[at + 1..].iter();
    operands.find(|arg| !arg.text.starts_with('-') && !is_kind(arg))
}
